package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/steps/fault"
)

// guard keeps a panic of the model from Bubble Tea, which would print it, and
// whatever secret is in it, on the terminal. The program ends instead, with the
// fault as its error.
type guard struct {
	tea.Model
	fell func(error) // ends the program
	last tea.View
}

// Init implements tea.Model.
func (g *guard) Init() (cmd tea.Cmd) {
	defer fault.To(g.fell)
	return g.Model.Init()
}

// Update implements tea.Model.
func (g *guard) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	m = g // also after a panic
	defer fault.To(g.fell)
	g.Model, cmd = g.Model.Update(msg)
	return m, cmd
}

// View implements tea.Model. What was drawn last stands until the program has
// ended.
func (g *guard) View() (v tea.View) {
	defer fault.To(func(err error) {
		g.fell(err)
		v = g.last
	})
	g.last = g.Model.View()
	return g.last
}
