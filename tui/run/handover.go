package run

import (
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// handOver asks who goes on and why, before this face lets go of the incident.
func (r *Screen) handOver(env *screen.Env) {
	if r.Acting() {
		env.Warn("warning", ink.Say("Not now: %s is acting. Wait until it has ended.", incident.Short(r.Snap.State.Acting)))
		return
	}
	env.Sheet = &form.Form{Title: "Hand over to another person",
		Intro:  []ink.Text{"The journal records both. Then this handrail releases the incident, and the keyboard is free until the incident is resumed."},
		Fields: []form.Field{form.Named("for", "to", "who continues: a person or a team", true), form.Named("why", "note", "why, what is under way, what comes next", true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoHandOver, Person: v["for"], Text: v["why"]})
		}}
}
