package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/gate"
	"handrail/tui/ink"
	"handrail/tui/run"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// noteNow opens the sheet of a note over whatever is in front, and says whether
// the key was for that. What is behind stays as it is: a gate stays armed, with
// what was typed and its time.
func (m *model) noteNow(msg tea.KeyPressMsg) bool {
	if m.Incident == nil || m.Replaying() || m.leaving != nil || m.Sheet != nil && m.Sheet.Over || !key.Matches(msg, m.Keys.Note) {
		return false
	}
	if front := m.Sheet != nil || m.palette != nil || m.gate != nil; msg.Text != "" && (front || !m.free(msg)) {
		return false // it is a letter of what is being typed
	}
	m.takeNote()
	return true
}

func (m *model) takeNote() {
	if m.sealing.Gone {
		m.Warn("warning", run.LetGo)
		return
	}
	under := m.Sheet
	m.Sheet = sheets.NoteForm(m.Env)
	m.Sheet.Over, m.Sheet.Under = true, under
}

// free says that a key is neither a letter that is typed nor a key of the text
// that is read.
func (m *model) free(msg tea.KeyPressMsg) bool {
	if v := m.evidence.View; m.At == screen.AtEvidence && v != nil && (v.Asking || msg.Text != "" && m.Keys.OfText(msg)) {
		return false
	}
	return !m.typing()
}

// noted puts the sheet of a note away. Keys that were meant for it must not reach
// a gate behind it.
func (m *model) noted(f *form.Form) {
	m.Sheet = f.Under
	if m.gate != nil {
		m.gate.Quiet = m.Now.Add(gate.Grace)
	}
}

// drawGateBehind is the gate above a sheet.
func (m *model) drawGateBehind(sheet []ink.Drawn) []ink.Drawn {
	whole := m.H
	m.H = max(4, whole-len(sheet))
	rows, _ := m.drawGate()
	room := m.H
	m.H = whole
	for len(rows) < room {
		rows = append(rows, "")
	}
	return append(rows[:room], sheet...)
}
