package tui

import (
	"handrail/session"
	"handrail/triage"

	tea "charm.land/bubbletea/v2"
)

// paste gives a pasted text to what is in front, where that takes one.
func (m *model) paste(s string) tea.Cmd {
	switch {
	case m.replaying() && !m.evidence.typing() && m.form == nil:
	case m.small() || m.leaving != nil:
	case m.form != nil:
		m.form.paste(s)
	case m.help != nil:
	case m.palette != nil:
		m.palette.paste(s)
	case m.gate != nil:
		return m.gate.pasteAtGate(m.Env, s)
	default:
		return m.front().paste(m.Env, s)
	}
	return nil
}

// typing says that letters are text at the moment.
func (m *model) typing() bool { return m.front().typing() }

// pasteBehindGate takes an approval that is pasted while the gate waits behind
// another screen, and brings the gate to the front.
func (m *model) pasteBehindGate(s string) tea.Cmd {
	g := m.run.snap.Gate
	if m.inc == nil || !session.IsApproval(s) || g == nil || g.Second == nil || g.Phase != triage.GateArmed {
		return nil
	}
	return tea.Batch(m.openGate(g.Step), m.gate.handApproval(m.Env, s))
}
