package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
)

// handed leaves the incident once the hand-over is recorded.
func (m *model) handed(msg didMsg) tea.Cmd {
	if msg.err != nil || msg.in.Kind != triage.DoHandOver || m.inc == nil {
		return nil
	}
	id := ink.Shown(m.run.snap.State.Incident)
	quit := m.c.Open != nil
	cmd := m.depart(quit)
	m.notice = notice{text: ink.Say("✓ Handed over to %s. They go on with: handrail resume %s", msg.in.Person, id)}
	return cmd
}
