package run

import (
	"slices"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Tell shows what the drill in front is about, and says whether it is one.
func Tell(env *screen.Env) bool {
	if env.Config.Story == nil || env.Incident == nil {
		return false
	}
	s := env.Config.Story(env.Incident)
	if s == nil {
		return false
	}
	f := &form.Form{Title: ink.Say("Drill: %s", s.Title), Does: "begin"}
	say := func(head ink.Text, lines ...ink.Text) { f.Parts = append(f.Parts, form.Part{Head: head, Lines: lines}) }
	say("WHAT HAPPENED", ink.Shown(s.Happened))
	var there []ink.Text
	for _, kv := range s.There {
		there = append(there, ink.Say("%s: %s", kv.Key, kv.Value))
	}
	say("WHAT IS THERE", there...)
	if s.Goal != "" {
		say("WHAT WINNING TAKES", ink.Shown(s.Goal))
	}
	say("HOW IT IS JUDGED", "After the close, by what is there then, not by what was said.")
	say("HOW TO GO ON", "Enter makes the next move, ? lists the keys, D shows this again.")
	env.Sheet = f
	return true
}

// Untouched says that nothing was tried in the incident yet.
func (r *Screen) Untouched() bool {
	return !slices.ContainsFunc(r.Steps(), func(st triage.Step) bool {
		return st.Attempts > 0 || st.Status != triage.Pending && st.Status != triage.Skipped
	})
}
