package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// paletteItems are the commands of the screen, then what is in it.
func (m *model) paletteItems() []screen.PaletteItem {
	areas := m.front().areas
	if m.At == screen.AtEvidence && m.evidence.View != nil {
		areas = []keymap.Area{keymap.OnText, keymap.OnIncident, keymap.InIncident}
	}
	var out []screen.PaletteItem
	for _, c := range m.Keys.Commands() {
		if !slices.Contains(areas, c.At) && !(c.At == keymap.Everywhere && c.Binding != &m.Keys.Palette) {
			continue
		}
		press := keymap.KeyFor(c.Binding.Keys()[0])
		out = append(out, screen.PaletteItem{Label: ink.Shown(c.Does), Note: keymap.KeysOf(*c.Binding), Do: func() tea.Cmd {
			if c.At == keymap.OnIncident && m.At == screen.AtEvidence && c.Binding != &m.Keys.Report && c.Binding != &m.Keys.Seal {
				m.evidence.CloseArtifact(m.Env)
				m.At = screen.AtRun
			}
			if c.Binding == &m.Keys.Note {
				m.takeNote()
				return nil
			}
			return m.route(press)
		}})
	}
	if f, ok := m.front().Screen.(screen.Finder); ok {
		out = append(out, f.Finds(m.Env)...)
	}
	for _, name := range ink.Themes() {
		out = append(out, screen.PaletteItem{Label: ink.Say("theme %s", name), Do: func() tea.Cmd {
			m.Config.Theme = name
			m.Theme = m.Config.Inks(m.ground)
			return nil
		}})
	}
	return out
}
