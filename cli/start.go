package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"handrail/cli/books"
	"handrail/cli/bundle"
	"handrail/cli/plain"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/debrief"
	"handrail/triage"
	"handrail/tui"
)

func startCommand(p *process.Program) *cobra.Command {
	var pairs []string
	var plain bool
	cmd := &cobra.Command{
		Use: "start RUNBOOK", Short: "Open an incident and walk it in the terminal",
		Long: `start opens an incident with a runbook and walks it in the terminal. With --plain
it talks line by line on stdin and stdout instead: nothing is redrawn, nothing
depends on colour, and it works with a screen reader and through a pipe.

RUNBOOK is an id or a file. An id means the runbook of the repository
(.handrail/runbooks at its root), else that of the team ($XDG_CONFIG_HOME/handrail/runbooks),
else the one that comes with handrail, which embedded:ID names in any case. One that
does not come with handrail is shown and trusted first: see handrail runbook trust.`,
		Args: process.Exactly("a RUNBOOK; see `handrail runbook list`"),
	}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter of the runbook, as `name=value`; may be repeated")
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plain = plainly(p, plain)
		given, err := settings.Pairs(pairs)
		if err != nil {
			return err
		}
		b, err := books.Asked(p, args[0])
		if err != nil {
			return err
		}
		rb := b.Runbook
		params, err := settings.Bind(rb, given)
		if !plain && args[0] == rb.ID && runbooks.OnlyRequired(err) {
			return ask(cmd.Context(), p, rb.ID, given)
		}
		if err != nil {
			return err
		}
		c, err := newConfig(p)
		if err != nil {
			return err
		}
		tellReadOnly(p, c)
		same := sameTarget(p, c, rb, params)
		warnSame(p.Stderr, p, same)
		if !plain {
			if id := resumeInstead(p, same); id != "" {
				path, err := bundle.Find(p, id)
				if err != nil {
					return err
				}
				return resume(cmd.Context(), p, path, resuming{})
			}
		}
		if err := signIn(cmd.Context(), p, &c); err != nil {
			return err
		}
		s, err := session.Start(cmd.Context(), c, session.Begin{Runbook: rb, Params: params})
		if err != nil {
			return err
		}
		return drive(cmd.Context(), p, world{config: c}, s, plain)
	}
	return cmd
}

// ask opens the terminal with the sheet that asks for the parameters that a runbook
// lacks, and goes on from there.
func ask(ctx context.Context, p *process.Program, id string, given map[string]string) error {
	c, err := newConfig(p)
	if err != nil {
		return err
	}
	if err := signIn(ctx, p, &c); err != nil {
		return err
	}
	face := face(p, c)
	face.Begin = &tui.Start{Runbook: id, Given: given}
	if err := draw(ctx, p, face); err != nil && !interrupted(ctx, err) {
		return err
	}
	return nil
}

// plainly says whether to talk line by line: when it was asked for, and by itself
// where there is no terminal to draw on.
func plainly(p *process.Program, asked bool) bool {
	if !asked && !p.Interactive() {
		fmt.Fprintln(p.Stderr, "handrail: no terminal to draw on, so this goes line by line, as with --plain")
		return true
	}
	return asked
}

// drive walks an open incident with a person, closes it and says how it ended.
func drive(ctx context.Context, p *process.Program, w world, s *session.Session, linear bool) error {
	var err error
	if linear {
		d := &plain.Dialogue{S: s, Lines: plain.ReadLines(p.Stdin), Out: p.Stdout, Now: p.Now}
		err = d.Run(ctx)
	} else {
		face := face(p, w.config)
		face.Open = s
		face.Debrief = func(ctx context.Context, _ tui.Incident) (*debrief.Drill, error) { return w.debriefing(ctx, s) }
		ofOthers := face.Story // that are opened from home
		face.Story = func(inc tui.Incident) *tui.Story {
			if inc == tui.Incident(s) {
				return w.story(p.Home())
			}
			return ofOthers(inc)
		}
		err = draw(ctx, p, face)
	}
	if _, judged := w.debriefing(ctx, s); judged != nil {
		fmt.Fprintf(p.Stderr, "handrail: the drill could not be judged: %s\n", process.Safe(judged.Error()))
	}
	return leave(ctx, p, s, err, "")
}

// leave closes a session that a driver is done with and turns its state into
// the end of the command. A running act goes on by itself.
func leave(ctx context.Context, p *process.Program, s *session.Session, err error, resume string) error {
	if len(s.Snapshot().Running) > 0 {
		fmt.Fprintln(p.Stderr, "handrail: stopping probes and closing the bundle; a running act goes on by itself, and the resume records how it ended")
	}
	closed := s.Close()
	snap := s.Snapshot()
	id := snap.State.Incident
	if err != nil && !errors.Is(err, plain.ErrLeft) && !interrupted(ctx, err) {
		return process.Hint(errors.Join(err, closed), "resume with `handrail resume "+id+resume+"`")
	}
	if closed != nil {
		return process.Hint(closed, "resume with `handrail resume "+id+resume+"`")
	}
	if snap.State.Outcome == "" {
		return &process.Problem{Code: process.ExitOpen, Err: fmt.Errorf("incident %s stays open", id), Next: "resume with `handrail resume " + id + resume + "`"}
	}
	fmt.Fprintf(p.Stderr, "Incident %s is closed: %s. Its evidence: %s\n", process.Safe(id), process.Safe(snap.State.Outcome), process.Safe(snap.Bundle))
	return process.Ended(outcomeCode(snap.State))
}

// interrupted reports whether a driver ended because of a signal rather than a
// fault.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, process.ErrSignal) || errors.Is(err, context.Canceled)
}

// outcomeCode is the exit code of a closed incident.
func outcomeCode(st triage.State) int {
	switch st.Outcome {
	case "recovered", triage.Reviewed:
		return process.ExitDone
	case "aborted":
		return process.ExitAborted
	}
	return process.ExitOpen
}
