package sheets

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// HandForm asks for a repair that a person made outside of handrail. Nothing was shown
// before it, so all of it is asked for, and which read will show it: the one in front comes
// first, then those that the step in front stands on.
func HandForm(env *screen.Env, front string) *form.Form {
	in, _ := env.Snap.State.Step(front)
	near := func(id string) int {
		switch {
		case id == front:
			return 0
		case slices.Contains(in.Refs, id):
			return 1
		}
		return 2
	}
	shows := env.Snap.State.Shows()
	slices.SortStableFunc(shows, func(a, b triage.Step) int { return near(a.ID) - near(b.ID) })
	var reads []form.Choice
	for _, st := range shows {
		reads = append(reads, form.Choice{Value: st.ID, Help: env.Title(st.ID)})
	}
	return &form.Form{Title: "Repaired by hand", Intro: []ink.Text{"What was changed outside of handrail, behind no gate. It is owed until that read, made after it, shows it."},
		Fields: []form.Field{
			form.Named("what", "what", "the command, or what was done in words", true),
			form.Named("object", "object", "what it was done to: kind/namespace/name, address, file", true),
			form.Named("person", "by", "who did it", true),
			form.OneOf("proof", "shown by", reads),
			form.Named("shows", "it shows", "what that read shows where it worked (optional)", false),
		},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoHand, Hand: triage.HandAct{What: v["what"], Object: v["object"], Person: v["person"], Proof: v["proof"], Shows: v["shows"]}})
		}}
}
