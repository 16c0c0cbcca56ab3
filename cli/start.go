package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/session"
	"handrail/session/debrief"
	"handrail/triage"
	"handrail/tui"
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
		plain = p.plainly(plain)
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
		return p.walk(cmd.Context(), world{config: c}, s, plain)
	}
	return cmd
}

// plainly says whether to talk line by line: when it was asked for, and by itself
// where there is no terminal to draw on.
func (p *program) plainly(asked bool) bool {
	if !asked && !p.interactive() {
		fmt.Fprintln(p.stderr, "handrail: no terminal to draw on, so this goes line by line, as with --plain")
		return true
	}
	return asked
}

// walk drives an open incident with a person, closes it and says how it ended.
func (p *program) walk(ctx context.Context, w world, s *session.Session, plain bool) error {
	var err error
	if plain {
		d := &dialogue{s: s, lines: readLines(p.stdin), out: p.stdout, now: p.now}
		err = d.run(ctx)
	} else {
		face := p.face(w.config)
		face.Open = s
		face.Debrief = func(ctx context.Context, _ tui.Incident) (*debrief.Drill, error) { return w.debriefing(ctx, s) }
		err = p.draw(ctx, face)
	}
	if _, judged := w.debriefing(ctx, s); judged != nil {
		fmt.Fprintf(p.stderr, "handrail: the drill could not be judged: %s\n", safe(judged.Error()))
	}
	return p.leave(ctx, s, err, "")
}

// leave closes a session that a driver is done with and turns its state into
// the end of the command. A running act goes on by itself.
func (p *program) leave(ctx context.Context, s *session.Session, err error, resume string) error {
	if len(s.Snapshot().Running) > 0 {
		fmt.Fprintln(p.stderr, "handrail: stopping probes and closing the bundle; a running act goes on by itself, and the resume records how it ended")
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
