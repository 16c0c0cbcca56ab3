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
	if of.Runbook != "" {
		return bookForm(of, do)
	}
	intro := []ink.Text{ink.Say("%s is not trusted: a plan runs programs and providers that its files name.", of.Dir)}
	if of.Changed != "" {
		intro = []ink.Text{ink.Say("%s was trusted, and changed since. %s.", of.Dir, of.Changed)}
	}
	intro = append(intro, used(of, "handrail trust --show")...)
	cs := []form.Choice{
		{Value: "trust", Help: ink.Say("as it is now, files: %d; a change ends it", of.Files)},
		{Value: "not now", Help: "plans stay unknown, and gates that need one stay shut"},
	}
	return &form.Form{Title: "May programs run in this directory?", Intro: intro, Does: "go on", Whole: true, Fields: []form.Field{form.OneOf("trust", "programs", cs)},
		Submit: func(v map[string]string) tea.Cmd { return do(v["trust"] == cs[0].Value) }}
}

// used names what trust would let be used.
func used(of screen.Untrusted, all string) []ink.Text {
	var out []ink.Text
	for _, u := range of.Uses {
		out = append(out, ink.Shown(u.Title))
		for i, v := range u.List {
			if i == mostUsed && !u.All {
				out = append(out, ink.Say("· and %d more: %s %s", len(u.List)-mostUsed, all, of.Dir))
				break
			}
			out = append(out, "· "+ink.Shown(v))
		}
	}
	return out
}

// bookForm asks whether a runbook may be begun with as it is now.
func bookForm(of screen.Untrusted, do func(yes bool) tea.Cmd) *form.Form {
	intro := []ink.Text{ink.Say("%s does not come with handrail, and is not trusted: %s.", of.Runbook, of.Dir)}
	if of.Changed != "" {
		intro = []ink.Text{ink.Say("%s was trusted, and changed since: %s. %s.", of.Runbook, of.Dir, of.Changed)}
	}
	if of.Before != "" {
		intro = append(intro, ink.Say("It stands %s, with the same id.", of.Before))
	}
	cs := []form.Choice{
		{Value: "trust", Help: "as it is now; a change ends it"},
		{Value: "not now", Help: "it is not opened"},
	}
	return &form.Form{Title: "May this runbook be used?", Intro: append(intro, used(of, "handrail runbook trust --show")...), Does: "go on", Whole: true,
		Fields: []form.Field{form.OneOf("trust", "runbook", cs)},
		Submit: func(v map[string]string) tea.Cmd { return do(v["trust"] == cs[0].Value) }}
}
