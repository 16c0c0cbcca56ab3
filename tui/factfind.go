package tui

import (
	"handrail/tui/ink"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// factFind narrows the facts to those with all words that are typed.
type factFind struct {
	edit   editor
	typing bool
}

func (f *factFind) words() []string { return strings.Fields(strings.ToLower(f.edit.value())) }

// findFact brings the facts to the front and takes what is typed from here on.
func (r *runScreen) findFact(env *Env) {
	r.facts, r.off, r.find.typing = true, 0, true
}

func (r *runScreen) typeFact(env *Env, msg tea.KeyPressMsg) {
	f := &r.find
	switch msg.String() {
	case "enter":
		f.typing = false
	case "esc":
		*f = factFind{}
	default:
		f.edit.key(msg)
	}
	r.off = 0
}

// drawFind is the line in which the words stand.
func (f *factFind) drawFind(p *ink.Page) {
	if !f.typing && f.edit.value() == "" {
		return
	}
	row, _ := f.edit.draw(p.Theme.Strong, p.W-4)
	caret := ink.Drawn("")
	if f.typing {
		caret = p.Theme.Accent.On("▏")
	}
	p.Add(p.Theme.Accent.On("/ ") + row + caret)
}
