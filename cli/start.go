package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/session"
	"handrail/triage"
)

func startCommand(p *program) *cobra.Command {
	var pairs []string
	var plain bool
	cmd := &cobra.Command{
		Use: "start RUNBOOK", Short: "Open an incident and walk it in the terminal",
		Long: `start opens an incident with a runbook and walks it in the terminal. With --plain
it talks line by line on stdin and stdout instead: nothing is redrawn, nothing
depends on colour, and it works with a screen reader and through a pipe.`,
		Args: exactly("a RUNBOOK; see `handrail runbook list`"),
	}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter of the runbook, as `name=value`; may be repeated")
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rb, params, err := p.bound(args[0], pairs)
		if err != nil {
			return err
		}
		if !plain {
			if err := p.needsTerminal("or use --plain, or `handrail run " + rb.ID + " --answers FILE`"); err != nil {
				return err
			}
		}
		c, err := p.session()
		if err != nil {
			return err
		}
		if err := p.signIn(cmd.Context(), &c); err != nil {
			return err
		}
		s, err := session.Start(cmd.Context(), c, session.Begin{Runbook: rb, Params: params})
		if err != nil {
			return err
		}
		return p.walk(cmd.Context(), c, s, plain)
	}
	return cmd
}

// needsTerminal refuses to draw where nobody can see or answer.
func (p *program) needsTerminal(other string) error {
	if p.interactive() {
		return nil
	}
	return usage("run it in a terminal, "+other, "stdin and stdout must be a terminal to draw on")
}

// walk drives an open incident with a person, closes it and says how it ended.
func (p *program) walk(ctx context.Context, c session.Config, s *session.Session, plain bool) error {
	var err error
	if plain {
		d := &dialogue{s: s, lines: readLines(p.stdin), out: p.stdout, now: p.now}
		err = d.run(ctx)
	} else {
		face := p.face(c)
		face.Open = s
		err = p.draw(ctx, face)
	}
	return p.leave(ctx, s, err, "")
}

// leave closes a session that a driver is done with and turns its state into
// the end of the command. Closing waits for a running act.
func (p *program) leave(ctx context.Context, s *session.Session, err error, resume string) error {
	if len(s.Snapshot().Running) > 0 {
		fmt.Fprintln(p.stderr, "handrail: stopping probes and closing the bundle; a running act is waited for")
	}
	closed := s.Close()
	snap := s.Snapshot()
	id := snap.State.Incident
	if err != nil && !errors.Is(err, errLeft) && !interrupted(ctx, err) {
		return hint(errors.Join(err, closed), "resume with `handrail resume "+id+resume+"`")
	}
	if closed != nil {
		return hint(closed, "resume with `handrail resume "+id+resume+"`")
	}
	if snap.State.Outcome == "" {
		return &problem{code: ExitOpen, err: fmt.Errorf("incident %s stays open", id), next: "resume with `handrail resume " + id + resume + "`"}
	}
	fmt.Fprintf(p.stderr, "Incident %s is closed: %s. Its evidence: %s\n", safe(id), safe(snap.State.Outcome), safe(snap.Bundle))
	return ended(outcomeCode(snap.State))
}

// interrupted reports whether a driver ended because of a signal rather than a
// fault.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, errSignal) || errors.Is(err, context.Canceled)
}

// outcomeCode is the exit code of a closed incident.
func outcomeCode(st triage.State) int {
	switch st.Outcome {
	case "recovered":
		return ExitDone
	case "aborted":
		return ExitAborted
	}
	return ExitOpen
}

// idOf is the incident of a bundle, by the name of its directory.
func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".hrb") }
