package tui

import (
	"handrail/tui/ink"
	"slices"

	tea "charm.land/bubbletea/v2"
)

func (m *model) openPalette() {
	m.palette = newPalette(m.paletteItems())
}

// paletteItems are the commands of the screen, then what is in it.
func (m *model) paletteItems() []found {
	areas := m.front().areas
	if m.at == atEvidence && m.evidence.view != nil {
		areas = []area{onText, onIncident, inIncident}
	}
	var out []found
	for _, c := range m.keys.commands() {
		if !slices.Contains(areas, c.at) && !(c.at == everywhere && c.binding != &m.keys.Palette) {
			continue
		}
		press := keyFor(c.binding.Keys()[0])
		out = append(out, found{label: ink.Shown(c.does), note: keysOf(*c.binding), do: func() tea.Cmd {
			if c.at == onIncident && m.at == atEvidence && c.binding != &m.keys.Report && c.binding != &m.keys.Seal {
				m.evidence.closeArtifact(m.Env)
				m.at = atRun
			}
			if c.binding == &m.keys.Note {
				m.takeNote()
				return nil
			}
			return m.route(press)
		}})
	}
	if f, ok := m.front().screen.(finder); ok {
		out = append(out, f.finds(m.Env)...)
	}
	for _, name := range ink.Themes() {
		out = append(out, found{label: ink.Say("theme %s", name), do: func() tea.Cmd {
			m.c.Theme = name
			m.th = m.c.theme(m.dark)
			return nil
		}})
	}
	return out
}
