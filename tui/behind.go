package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/tui/gate"
	"handrail/tui/header"
	"handrail/tui/ink"
)

// behindGate is the screen that the gate came over.
func (m *model) behindGate(h int) []ink.Drawn {
	off := m.run.Off
	defer func() { m.run.Off = off }()
	return m.body(h)
}

// drawGate lays the gate over the screen behind it. The head of the incident
// stays: how bad it is and where.
func (m *model) drawGate() ([]ink.Drawn, *tea.Position) {
	head := header.Draw(m.Env, m.front().name)
	if m.H <= gate.Roomy {
		head = head[:1]
	}
	rows, cur := m.gateOver(m.H - len(head))
	if cur != nil {
		cur.Y += len(head)
	}
	return append(head, rows...), cur
}

// gateOver is the gate with what is behind it, in h rows.
func (m *model) gateOver(h int) ([]ink.Drawn, *tea.Position) {
	box, cur := m.gate.Box(m.Env, h)
	left, up := (m.W-ink.Cells(box[0]))/2, max(0, (h-len(box))/2)
	if cur != nil {
		cur.X, cur.Y = cur.X+left, cur.Y+up
	}
	return ink.Over(m.behindGate(h), box, m.Theme.Veil, left, up, m.W, h), cur
}
