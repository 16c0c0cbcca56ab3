package run

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
)

// factFind narrows the facts to those with all words that are typed.
type factFind struct {
	edit   form.Editor
	typing bool
}

// words are those that a fact must have.
func (f *factFind) words() []string { return strings.Fields(strings.ToLower(f.edit.Value())) }

// findFact brings the facts to the front and takes what is typed from here on.
func (r *Screen) findFact() {
	r.Facts, r.Off, r.find.typing = true, 0, true
}

func (r *Screen) typeFact(msg tea.KeyPressMsg) {
	f := &r.find
	switch msg.String() {
	case "enter":
		f.typing = false
	case "esc":
		*f = factFind{}
	default:
		f.edit.Key(msg)
	}
	r.Off = 0
}
