package tui

import (
	"handrail/tui/ink"

	tea "charm.land/bubbletea/v2"
)

// behindGate is the screen that the gate came over.
func (m *model) behindGate(h int) []ink.Drawn {
	off := m.run.off
	defer func() { m.run.off = off }()
	return m.body(h)
}

// drawGate lays the gate over the screen behind it. The head of the incident
// stays: how bad it is and where.
func (m *model) drawGate() ([]ink.Drawn, *tea.Position) {
	head := drawHeader(m.Env, m.front().name)
	if m.h <= roomy {
		head = head[:1]
	}
	rows, cur := m.gateOver(m.h - len(head))
	if cur != nil {
		cur.Y += len(head)
	}
	return append(head, rows...), cur
}

// gateOver is the gate with what is behind it, in h rows.
func (m *model) gateOver(h int) ([]ink.Drawn, *tea.Position) {
	box, cur := m.gate.Box(m.Env, h)
	left, up := (m.w-ink.Cells(box[0]))/2, max(0, (h-len(box))/2)
	if cur != nil {
		cur.X, cur.Y = cur.X+left, cur.Y+up
	}
	return ink.Over(m.behindGate(h), box, m.th.Veil, left, up, m.w, h), cur
}
