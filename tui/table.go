package tui

import "handrail/tui/ink"

// entry is a screen of the program.
type entry struct {
	id screenID
	screen
	name  ink.Text // beside the name of the program, while no incident is open
	areas []area   // of the keys that count on it, besides those that count everywhere
	bare  bool     // it divides itself into panes, and has no margin
}

// table is every screen of the program.
func (m *model) table() []entry {
	return []entry{
		{id: atHome, screen: &m.home, name: "command centre", areas: []area{onHome}},
		{id: atMatch, screen: &m.match, name: "match an error"},
		{id: atSymptoms, screen: &m.symptoms, name: "match what you see"},
		{id: atWait, screen: &m.wait, name: "opening"},
		{id: atRun, screen: &m.run, areas: []area{onStep, onIncident, inIncident}, bare: true},
		{id: atEvidence, screen: &m.evidence, areas: []area{onEvidence, onIncident, inIncident}},
		{id: atSeal, screen: &m.sealing},
	}
}

// front is the screen that fills the terminal.
func (m *model) front() entry {
	for _, e := range m.screens {
		if e.id == m.at {
			return e
		}
	}
	return m.screens[0]
}
