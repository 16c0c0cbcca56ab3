package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
)

// noteNow opens the sheet of a note over whatever is in front, and says whether
// the key was for that. What is behind stays as it is: a gate stays armed, with
// what was typed and its time.
func (m *model) noteNow(msg tea.KeyPressMsg) bool {
	if m.inc == nil || m.replaying() || m.leaving != nil || m.form != nil && m.form.over || !key.Matches(msg, m.keys.Note) {
		return false
	}
	if front := m.form != nil || m.palette != nil || m.gate != nil; msg.Text != "" && (front || !m.free(msg)) {
		return false // it is a letter of what is being typed
	}
	m.takeNote()
	return true
}

func (m *model) takeNote() {
	if m.sealing.gone {
		m.warn("warning", letGo)
		return
	}
	under := m.form
	m.form = noteForm(m.Env)
	m.form.over, m.form.under = true, under
}

// free says that a key is neither a letter that is typed nor a key of the text
// that is read.
func (m *model) free(msg tea.KeyPressMsg) bool {
	if v := m.evidence.view; m.at == atEvidence && v != nil && (v.asking || msg.Text != "" && m.keys.ofText(msg)) {
		return false
	}
	return !m.typing()
}

// noted puts the sheet of a note away. Keys that were meant for it must not reach
// a gate behind it.
func (m *model) noted(f *form) {
	m.form = f.under
	if m.gate != nil {
		m.gate.quiet = m.now.Add(grace)
	}
}

// noteAnswered says beside a gate that a note was recorded, or was not.
func (m *model) noteAnswered(msg didMsg) {
	if m.gate == nil || msg.in.Kind != triage.DoNote {
		return
	}
	m.gate.noted = m.notice
}

// drawGateBehind is the gate above a sheet.
func (m *model) drawGateBehind(sheet []ink.Drawn) []ink.Drawn {
	whole := m.h
	m.h = max(4, whole-len(sheet))
	rows, _ := m.drawGate()
	room := m.h
	m.h = whole
	for len(rows) < room {
		rows = append(rows, "")
	}
	return append(rows[:room], sheet...)
}
