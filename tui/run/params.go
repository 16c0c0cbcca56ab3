package run

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// What the incident is about, and whether programs may run there.

// params shows the parameters of the runbook in force, from the first that is wanted.
func (r *Screen) params(env *screen.Env, wanted ...string) {
	if env.Config.Params == nil {
		env.Warn("", "The parameters cannot be changed from here.")
		return
	}
	fs := env.Config.Params(r.Snap.State.Plan().Runbook)
	if len(fs) == 0 {
		env.Warn("", "This runbook has no parameters.")
		return
	}
	env.Sheet = sheets.ParamsForm(env, fs, wanted...)
}

// trust is what was said of the directory in which a program would run.
type trust struct {
	looking  bool
	declined string // the directory in which programs may not run, as a person said
}

// untrustedMsg says whether programs may run where a step runs one.
type untrustedMsg struct {
	inc  screen.Incident
	step string
	of   *screen.Untrusted
	err  error
}

// probe reads a step. Where it runs a program in a directory that is not trusted, that
// is settled before: without, it could only say that it cannot tell.
func (r *Screen) probe(env *screen.Env, step string) tea.Cmd {
	send := triage.Intent{Kind: triage.DoProbe, Step: step}
	st, _ := r.Snap.State.Step(step)
	if !st.Heavy || runsInEmptyDirectory(r.Snap.Cards[step]) || env.Config.Untrusted == nil || r.Snap.State.Drill != "" || st.Status == triage.Running {
		return env.Send(send)
	}
	if r.trust.looking {
		return nil
	}
	r.trust.looking = true
	inc, plan, given := env.Incident, r.Snap.State.Plan().Runbook, map[string]string{}
	for name, v := range r.Snap.State.Params(plan) {
		given[name] = v.Text()
	}
	return env.Tasks.Start(func(ctx context.Context) tea.Msg {
		of, err := env.Config.Untrusted(ctx, plan, given)
		return untrustedMsg{inc, step, of, err}
	})
}

// runsInEmptyDirectory reports whether a step runs a program of its runbook that was given no
// directory: there is none to be trusted.
func runsInEmptyDirectory(card view.Card) bool {
	return hasGiven(card, "argv") && !hasGiven(card, "dir")
}

// hasGiven reports whether a step is given a parameter. argv has only a program of a runbook.
func hasGiven(card view.Card, name string) bool {
	return slices.ContainsFunc(card.With, func(kv steps.KV) bool { return kv.Key == name })
}

// untrusted goes on with the step that waited, or asks first.
func (r *Screen) untrusted(env *screen.Env, msg untrustedMsg) tea.Cmd {
	if msg.inc != env.Incident {
		return nil // of an incident that was left
	}
	if r.trust.looking = false; env.Sheet != nil {
		return nil // something else is being asked by now
	}
	send := triage.Intent{Kind: triage.DoProbe, Step: msg.step}
	if msg.err != nil || msg.of == nil || msg.of.Wrong != "" || msg.of.Dir == r.trust.declined {
		return env.Send(send) // the step itself says what it could not do, and why
	}
	env.Sheet = sheets.TrustForm(*msg.of, func(yes bool) tea.Cmd {
		if !yes {
			r.trust.declined = msg.of.Dir
			return env.Send(send)
		}
		inc := env.Incident
		return env.Tasks.Start(func(ctx context.Context) tea.Msg {
			return trustedMsg{inc, msg.step, env.Config.Trust(ctx, *msg.of)}
		})
	})
	return nil
}

// trustedMsg says that a directory was trusted, or why it was not.
type trustedMsg struct {
	inc  screen.Incident
	step string
	err  error
}

func (r *Screen) trusted(env *screen.Env, msg trustedMsg) tea.Cmd {
	switch {
	case msg.inc != env.Incident:
		return nil
	case msg.err != nil:
		env.Warn("critical", ink.Shown(msg.err.Error()))
		return nil
	}
	return env.Send(triage.Intent{Kind: triage.DoProbe, Step: msg.step})
}
