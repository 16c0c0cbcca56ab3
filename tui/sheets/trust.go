package sheets

import (
	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// mostUsed bounds what is named of each sort of thing that trust would let be used.
const mostUsed = 3

// TrustForm asks whether programs may run in a directory as it is now. No key answers
// it by chance: one of the two is chosen first.
func TrustForm(of screen.Untrusted, do func(yes bool) tea.Cmd) *form.Form {
	intro := []ink.Text{ink.Say("%s is not trusted: a plan runs programs and providers that its files name.", of.Dir)}
	if of.Changed != "" {
		intro = []ink.Text{ink.Say("%s was trusted, and changed since. %s.", of.Dir, of.Changed)}
	}
	for _, u := range of.Uses {
		intro = append(intro, ink.Shown(u.Title))
		for i, v := range u.List {
			if i == mostUsed {
				intro = append(intro, ink.Say("· and %d more: handrail trust --show %s", len(u.List)-mostUsed, of.Dir))
				break
			}
			intro = append(intro, "· "+ink.Shown(v))
		}
	}
	cs := []form.Choice{
		{Value: "trust", Help: ink.Say("as it is now, files: %d; a change ends it", of.Files)},
		{Value: "not now", Help: "plans stay unknown, and gates that need one stay shut"},
	}
	return &form.Form{Title: "May programs run in this directory?", Intro: intro, Does: "go on", Fields: []form.Field{form.OneOf("trust", "programs", cs)},
		Submit: func(v map[string]string) tea.Cmd { return do(v["trust"] == cs[0].Value) }}
}
