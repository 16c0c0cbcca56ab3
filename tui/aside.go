package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// asideMsg is a line that something wanted to write on the terminal.
type asideMsg string

// hearAside waits for the next such line.
func (m *model) hearAside() tea.Cmd {
	lines, ctx := m.Config.Aside, m.Tasks.Ctx
	if lines == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case line, open := <-lines:
			if !open {
				return nil
			}
			return asideMsg(line)
		case <-ctx.Done():
			return nil
		}
	}
}

// aside shows the line below what stands there of ours: neither hides the other. All of
// them are told on the terminal after the program gave it back.
func (m *model) aside(line asideMsg) tea.Cmd {
	m.Beside = ink.Say("Beside the screen: %s", string(line))
	return m.hearAside()
}
