package cli

import (
	"context"
	"errors"
	"fmt"

	"handrail/cli/plain"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/session"
	"handrail/session/debrief"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui"
)

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
		if lacks := settings.NoRecipient(p); lacks != "" && s.Snapshot().State.Drill == "" {
			fmt.Fprintln(p.Stderr, process.Safe(lacks))
		}
		d := &plain.Dialogue{S: s, Lines: plain.ReadLines(p.Stdin), Out: p.Stdout, Now: p.Now, Params: paramsOf(p)}
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

// paramsOf looks up the parameters of a runbook, which are nil where it cannot be.
func paramsOf(p *process.Program) func(id string) []steps.Field {
	return func(id string) []steps.Field {
		b, err := settings.Look(p, id)
		if err != nil {
			return nil
		}
		return b.Params
	}
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
