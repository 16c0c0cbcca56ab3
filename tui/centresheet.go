package tui

import (
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/ink"
)

// openStanding shows what stands behind a row of an answer.
func (h *homeScreen) openStanding(env *Env, r homeRow) tea.Cmd {
	switch {
	case r.standing != nil:
		env.form = h.standingForm(env, r.question, *r.standing)
	case r.fold:
		env.form = h.allForm(env, r.question)
	default:
		env.form = h.gapsForm(env)
	}
	return nil
}

func titleOf(question string) ink.Text {
	for _, q := range steps.Questions() {
		if q.ID == question {
			return ink.Shown(q.Title)
		}
	}
	return ink.Shown(question)
}

// standingForm says all that is known of one row, and offers what fits it.
func (h *homeScreen) standingForm(env *Env, question string, r steps.Standing) *form {
	f := &form{title: ink.Say("%s: %s", titleOf(question), r.Where), intro: []ink.Text{ink.Shown(r.What)}}
	add := func(format string, args ...any) { f.intro = append(f.intro, ink.Say(format, args...)) }
	if r.Detail != "" {
		add("It says: %s", r.Detail)
	}
	if !r.Since.IsZero() {
		add("Since %s (%s).", r.Since.UTC().Format(time.RFC3339), ink.Ago(env.now.Sub(r.Since)))
	} else {
		add("Since when is not known.")
	}
	if r.Owner != "" {
		add("Kept by %s.", r.Owner)
	}
	if r.Command != "" {
		add("Look yourself: %s", r.Command)
	}
	var cs []choice
	if r.Incident != "" {
		cs = append(cs, choice{value: "resume", help: ink.Say("open %s", r.Incident)})
	}
	if r.Runbook != "" {
		with := ""
		for _, k := range slices.Sorted(maps.Keys(r.Params)) {
			with += " " + k + "=" + r.Params[k]
		}
		cs = append(cs, choice{value: "start", help: ink.Say("an incident with %s%s", r.Runbook, with)}, choice{value: "change", help: "see its parameters first"})
	}
	if len(cs) == 0 {
		add("No runbook fits this yet. p takes the error that it makes, and ranks those there are.")
		return f
	}
	f.fields = []field{oneOf("next", "what next", cs)}
	f.submit = func(v map[string]string) tea.Cmd {
		if v["next"] == "resume" {
			return env.Ask(Resume{ID: r.Incident})
		}
		return env.Ask(Start{Runbook: r.Runbook, Given: r.Params, Look: v["next"] == "change"})
	}
	return f
}

// allForm lists every row of one question.
func (h *homeScreen) allForm(env *Env, question string) *form {
	a := h.centre.answers[question]
	f := &form{title: ink.Say("all %s: %d", titleOf(question), len(a.Rows)+a.More)}
	for _, r := range a.Rows {
		f.intro = append(f.intro, ink.Say("%s: %s", r.Where, r.What)+ink.Trail(env.now, r.Since, ink.Shown(r.Owner)))
	}
	if a.More > 0 {
		f.intro = append(f.intro, ink.Say("%d more were found; narrow them with kubectl.", a.More))
	}
	return f
}

// gapsForm lists what could not be seen, and why.
func (h *homeScreen) gapsForm(env *Env) *form {
	f := &form{title: "what could not be seen"}
	for _, q := range steps.Questions() {
		for _, why := range h.centre.answers[q.ID].Unseen() {
			f.intro = append(f.intro, ink.Say("%s: %s", q.Title, why))
		}
	}
	return f
}
