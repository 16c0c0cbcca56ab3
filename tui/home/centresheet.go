package home

import (
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// openStanding shows what stands behind a row of an answer.
func (h *Screen) openStanding(env *screen.Env, r HomeRow) tea.Cmd {
	switch {
	case r.standing != nil:
		env.Sheet = h.standingForm(env, r.question, *r.standing)
	case r.Fold:
		env.Sheet = h.allForm(env, r.question)
	default:
		env.Sheet = h.gapsForm()
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
func (h *Screen) standingForm(env *screen.Env, question string, r steps.Standing) *form.Form {
	f := &form.Form{Title: ink.Say("%s: %s", titleOf(question), r.Where), Does: "go on", Parts: []form.Part{{Head: ink.Shown(r.What)}}}
	add := func(format string, args ...any) {
		f.Parts[0].Lines = append(f.Parts[0].Lines, ink.Say(format, args...))
	}
	if lines := strings.Split(r.Detail, "\n"); r.Detail != "" {
		add("Message: %s", lines[0])
		for _, l := range lines[1:] {
			add("%s", l)
		}
	}
	if !r.Since.IsZero() {
		add("Since %s (%s).", r.Since.UTC().Format(time.RFC3339), ink.Ago(env.Now.Sub(r.Since)))
	} else {
		add("Start time unknown.")
	}
	if r.Owner != "" {
		add("Owner: %s.", r.Owner)
	}
	if r.Command != "" {
		add("Check by hand: %s", r.Command)
	}
	var cs []form.Choice
	if r.Incident != "" {
		cs = append(cs, form.Choice{Value: "resume", Help: ink.Say("open %s", r.Incident)})
	}
	if r.Runbook != "" {
		with := ""
		for _, k := range slices.Sorted(maps.Keys(r.Params)) {
			with += " " + k + "=" + r.Params[k]
		}
		cs = append(cs, form.Choice{Value: "start", Help: ink.Say("an incident with %s%s", r.Runbook, with)}, form.Choice{Value: "change", Help: "show its parameters first"})
	}
	// Where it is, the message does not always say.
	match := func(map[string]string) tea.Cmd { return env.Ask(screen.Match{Text: r.Where + "\n" + r.Detail + "\n"}) }
	if r.Runbook == "" && r.Detail != "" {
		cs = append(cs, form.Choice{Value: "match", Help: "rank the runbooks for its message"})
	}
	switch {
	case len(cs) == 1 && r.Incident == "": // to rank changes nothing, and there is nothing else to choose
		f.Does, f.Submit = "rank the runbooks for its message", match
		return f
	case len(cs) == 0:
		f.Does = ""
		add("No runbook matches this yet. Press p and paste its error to rank the runbooks.")
		return f
	}
	next := form.OneOf("next", "what next", cs)
	next.Pick = 0 // it only reads, and is what the row was opened for
	f.Fields = []form.Field{next}
	f.Submit = func(v map[string]string) tea.Cmd {
		switch v["next"] {
		case "resume":
			return env.Ask(screen.Resume{ID: r.Incident})
		case "match":
			return match(v)
		}
		return env.Ask(screen.Start{Runbook: r.Runbook, Given: r.Params, Look: v["next"] == "change", Seen: true})
	}
	return f
}

// allForm lists every row of one question.
func (h *Screen) allForm(env *screen.Env, question string) *form.Form {
	a := h.Centre.Answers[question]
	f := &form.Form{Title: ink.Say("all %s: %d", titleOf(question), len(a.Rows)+a.More)}
	for _, r := range a.Rows {
		f.Intro = append(f.Intro, ink.Say("%s: %s", r.Where, r.What)+ink.Trail(env.Now, r.Since, ink.Shown(r.Owner)))
	}
	if a.More > 0 {
		f.Intro = append(f.Intro, ink.Say("%d more found; narrow the list with kubectl.", a.More))
	}
	return f
}

// gapsForm lists what could not be seen, and why.
func (h *Screen) gapsForm() *form.Form {
	f := &form.Form{Title: "what could not be seen"}
	for _, q := range steps.Questions() {
		for _, why := range h.Centre.Answers[q.ID].Unseen() {
			f.Intro = append(f.Intro, ink.Say("%s: %s", q.Title, why))
		}
	}
	return f
}
