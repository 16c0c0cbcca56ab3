package run

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
)

// factFind narrows the facts to those with all words that are typed.
type factFind struct {
	Edit   form.Editor
	typing bool
}

// Words are those that a fact must have.
func (f *factFind) Words() []string { return strings.Fields(strings.ToLower(f.Edit.Value())) }

// findFact brings the facts to the front and takes what is typed from here on.
func (r *Screen) findFact() {
	r.Facts, r.Off, r.Find.typing = true, 0, true
}

func (r *Screen) typeFact(msg tea.KeyPressMsg) {
	f := &r.Find
	switch msg.String() {
	case "enter":
		f.typing = false
	case "esc":
		*f = factFind{}
	default:
		f.Edit.Key(msg)
	}
	r.Off = 0
}
