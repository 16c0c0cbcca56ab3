package tui

import (
	"handrail/triage"
	"handrail/tui/ink"

	tea "charm.land/bubbletea/v2"
)

// handOver asks who goes on and why, before this face lets go of the incident.
func (r *runScreen) handOver(env *Env) {
	if r.acting() {
		env.warn("warning", ink.Say("Not now: %s is acting, and somebody must see how that ends.", short(r.snap.State.Acting)))
		return
	}
	env.form = &form{title: "Hand over to somebody else",
		intro:  []ink.Text{"Both stand in the journal. Afterwards nobody is at the keyboard here, until somebody resumes it; this handrail lets go of it."},
		fields: []field{named("for", "to", "who goes on: a person or a team", true), named("why", "note", "why, what is under way, what comes next", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoHandOver, Person: v["for"], Text: v["why"]})
		}}
}
