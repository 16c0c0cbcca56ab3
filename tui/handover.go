package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// handed leaves the incident once the hand-over is recorded.
func (m *model) handed(msg screen.Answer) tea.Cmd {
	if msg.Err != nil || msg.In.Kind != triage.DoHandOver || m.Incident == nil {
		return nil
	}
	id := ink.Shown(m.run.Snap.State.Incident)
	quit := m.Config.Open != nil
	cmd := m.depart(quit)
	m.Notice = screen.Notice{Text: ink.Say("✓ Handed over to %s. They continue with: handrail resume %s", msg.In.Person, id)}
	return cmd
}
