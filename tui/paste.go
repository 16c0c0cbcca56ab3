package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/session/approval"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/sheets"
)

// paste gives a pasted text to what is in front, where that takes one. Of a token it keeps the
// header: no screen shows the rest.
func (m *model) paste(s string) tea.Cmd {
	s = steps.WithoutTokens(s)
	switch {
	case m.Replaying() && !m.evidence.Typing() && m.Sheet == nil:
	case m.small() || m.leaving != nil:
	case m.Sheet != nil:
		m.Sheet.Paste(s)
	case m.help != nil:
	case m.palette != nil:
		m.palette.Paste(s)
	case m.gate != nil && lowers(m.Snap, s):
		return sheets.ApproveLowering(m.Env, s)
	case m.gate != nil:
		return m.gate.Paste(m.Env, s)
	default:
		return m.front().Paste(m.Env, s)
	}
	return nil
}

// typing says that letters are text at the moment.
func (m *model) typing() bool { return m.front().Typing() }

// pasteBehindGate takes an approval that is pasted while the gate waits behind
// another screen, and brings the gate to the front.
func (m *model) pasteBehindGate(s string) tea.Cmd {
	if m.Incident != nil && lowers(m.Snap, s) {
		return sheets.ApproveLowering(m.Env, s)
	}
	g := m.run.Snap.Gate
	if m.Incident == nil || !approval.IsApproval(s) || g == nil || g.Second == nil || g.Phase != triage.GateArmed {
		return nil
	}
	return tea.Batch(m.openGate(g.Step, false), m.gate.HandApproval(m.Env, s))
}
