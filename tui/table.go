package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// entry is a screen of the program.
type entry struct {
	id screen.ID
	screen.Screen
	name  ink.Text       // beside the name of the program, while no incident is open
	areas []keymap.Area  // of the keys that count on it, besides those that count everywhere
	bare  bool           // it divides itself into panes, and has no margin
	key   keymap.Command // that opens it; none where only another screen does
}

// table is every screen of the program. One that is added has its own file and a
// line here: with a key, it is in the help, the palette and the key file too.
func (m *model) table() []entry {
	return []entry{
		{id: screen.AtHome, Screen: &m.home, name: "command centre", areas: []keymap.Area{keymap.OnHome}},
		{id: screen.AtMatch, Screen: &m.match, name: "match an error"},
		{id: screen.AtSymptoms, Screen: &m.symptoms, name: "match symptoms"},
		{id: screen.AtWait, Screen: &m.wait, name: "opening"},
		{id: screen.AtRun, Screen: &m.run, areas: []keymap.Area{keymap.OnStep, keymap.OnIncident, keymap.InIncident}, bare: true},
		{id: screen.AtEvidence, Screen: &m.evidence, areas: []keymap.Area{keymap.OnEvidence, keymap.OnIncident, keymap.InIncident}},
		{id: screen.AtSeal, Screen: &m.sealing},
	}
}

// openers are the commands of the table that open a screen.
func openers(table []entry) []keymap.Command {
	var out []keymap.Command
	for _, e := range table {
		if e.key.Name != "" {
			out = append(out, e.key)
		}
	}
	return out
}

// opens is the screen that a key opens here.
func (m *model) opens(msg tea.KeyPressMsg) (screen.ID, bool) {
	for _, c := range m.Keys.Screens {
		if !key.Matches(msg, *c.Binding) || c.At != keymap.Everywhere && !slices.Contains(m.front().areas, c.At) {
			continue
		}
		i := slices.IndexFunc(m.screens, func(e entry) bool { return e.key.Name == c.Name })
		return m.screens[i].id, true
	}
	return "", false
}

// open brings a screen to the front.
func (m *model) open(id screen.ID) tea.Cmd {
	for _, e := range m.screens {
		if o, ok := e.Screen.(screen.Opener); ok && e.id == id {
			return o.Open(m.Env)
		}
	}
	m.Show(id)
	return nil
}

// front is the screen that fills the terminal.
func (m *model) front() entry {
	for _, e := range m.screens {
		if e.id == m.At {
			return e
		}
	}
	return m.screens[0]
}
