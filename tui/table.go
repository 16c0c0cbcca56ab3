package tui

import (
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// entry is a screen of the program.
type entry struct {
	id screen.ID
	screen.Screen
	name  ink.Text      // beside the name of the program, while no incident is open
	areas []keymap.Area // of the keys that count on it, besides those that count everywhere
	bare  bool          // it divides itself into panes, and has no margin
}

// table is every screen of the program.
func (m *model) table() []entry {
	return []entry{
		{id: screen.AtHome, Screen: &m.home, name: "command centre", areas: []keymap.Area{keymap.OnHome}},
		{id: screen.AtMatch, Screen: &m.match, name: "match an error"},
		{id: screen.AtSymptoms, Screen: &m.symptoms, name: "match what you see"},
		{id: screen.AtWait, Screen: &m.wait, name: "opening"},
		{id: screen.AtRun, Screen: &m.run, areas: []keymap.Area{keymap.OnStep, keymap.OnIncident, keymap.InIncident}, bare: true},
		{id: screen.AtEvidence, Screen: &m.evidence, areas: []keymap.Area{keymap.OnEvidence, keymap.OnIncident, keymap.InIncident}},
		{id: screen.AtSeal, Screen: &m.sealing},
	}
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
