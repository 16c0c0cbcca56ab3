package tui

import (
	"handrail/tui/ink"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// commandPalette finds what can be done here by its words: commands, steps, rows
// of the list, themes. It does nothing that has no other way.
type commandPalette struct {
	edit  editor
	items []paletteItem
	found []int
	at    int
}

// paletteItem is one thing to find.
type paletteItem struct {
	label, note ink.Text
	do          func() tea.Cmd
}

func (m *model) openPalette() {
	m.palette = &commandPalette{items: m.paletteItems()}
	m.palette.filter()
}

// paletteItems are the commands of the screen, then what is in it.
func (m *model) paletteItems() []paletteItem {
	areas := m.front().areas
	if m.at == atEvidence && m.evidence.view != nil {
		areas = []area{onText, onIncident, inIncident}
	}
	var out []paletteItem
	for _, c := range m.keys.commands() {
		if !slices.Contains(areas, c.at) && !(c.at == everywhere && c.binding != &m.keys.Palette) {
			continue
		}
		press := keyFor(c.binding.Keys()[0])
		out = append(out, paletteItem{ink.Shown(c.does), keysOf(*c.binding), func() tea.Cmd {
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
	switch m.at {
	case atRun:
		for _, st := range m.run.steps() {
			out = append(out, paletteItem{ink.Say("step %s: %s", short(st.ID), m.run.title(st.ID)), ink.Text(st.Phase), func() tea.Cmd {
				m.run.front(st.ID)
				m.run.decide()
				return nil
			}})
		}
	case atHome:
		for i, r := range m.home.rows {
			if r.folded {
				continue
			}
			note := r.main
			if r.section == rightNow {
				note = r.left + " " + r.main
			}
			out = append(out, paletteItem{r.move, ink.Clip(note, 40), func() tea.Cmd {
				m.home.at, m.home.moved = i, true
				return m.home.openRow(m.Env)
			}})
		}
	}
	for _, name := range ink.Themes() {
		out = append(out, paletteItem{ink.Say("theme %s", name), "", func() tea.Cmd {
			m.c.Theme = name
			m.th = m.c.theme(m.dark)
			return nil
		}})
	}
	return out
}

// keyFor is the press of a key that is named as in the key map.
func keyFor(name string) tea.KeyPressMsg {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"tab": tea.KeyTab, "space": tea.KeySpace, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}
	msg := tea.KeyPressMsg{}
	for {
		mod, rest, ok := strings.Cut(name, "+")
		by, known := map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		if !ok || !known || rest == "" {
			break
		}
		msg.Mod, name = msg.Mod|by, rest
	}
	if r, ok := named[name]; ok {
		msg.Code = r
		return msg
	}
	runes := []rune(name)
	switch {
	case len(runes) == 1:
		msg.Code = runes[0]
		if msg.Mod == 0 {
			msg.Text = name
		}
	case runes[0] == 'f' && len(runes) <= 3:
		msg.Code = tea.KeyF1 + rune(atoi(name[1:])) - 1
	}
	return msg
}

// filter keeps what has every word that was typed: first what begins as typed,
// then what has a word that does.
func (p *commandPalette) filter() {
	typed := strings.ToLower(strings.TrimSpace(p.edit.value()))
	words := strings.Fields(typed)
	p.found, p.at = p.found[:0], 0
	var ranked [3][]int
	for i, it := range p.items {
		label := strings.ToLower(string(it.label + " " + it.note))
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(label, w) }) {
			continue
		}
		rank := 2
		switch {
		case strings.HasPrefix(label, typed):
			rank = 0
		case strings.Contains(label, " "+words[0]):
			rank = 1
		}
		ranked[rank] = append(ranked[rank], i)
	}
	p.found = slices.Concat(ranked[:]...)
}

func (m *model) pressPalette(msg tea.KeyPressMsg) tea.Cmd {
	p := m.palette
	switch s := msg.String(); {
	case key.Matches(msg, m.keys.Esc), s == "ctrl+k":
		m.palette = nil
	case key.Matches(msg, m.keys.Enter):
		m.palette = nil
		if len(p.found) > 0 {
			return p.items[p.found[p.at]].do()
		}
	case s == "up", s == "ctrl+p":
		p.at = max(0, p.at-1)
	case s == "down", s == "ctrl+n", s == "tab":
		p.at = max(0, min(p.at+1, len(p.found)-1))
	case s == "backspace" && p.edit.value() == "":
		m.palette = nil
	default:
		p.edit.key(msg)
		p.filter()
	}
	return nil
}

// draw returns the sheet in h lines at most, and where the cursor is on it.
func (p *commandPalette) draw(th *ink.Theme, w, h int) ([]ink.Drawn, *tea.Position) {
	head := th.Accent.On("── ") + th.Title.On("Commands") + " "
	rows := []ink.Drawn{head + th.Accent.On(ink.Line("─", w-ink.Cells(head)))}
	typed, at := p.edit.draw(th.Strong, w-4)
	rows = append(rows, " "+th.Pick.On("▸ ")+typed)
	room := max(1, h-4)
	from := max(0, min(p.at-room/2, len(p.found)-room))
	for n := from; n < min(len(p.found), from+room); n++ {
		it := p.items[p.found[n]]
		lead, pen := ink.Drawn("   "), th.Plain
		if n == p.at {
			lead, pen = " "+th.Pick.On("▸ "), th.Pick
		}
		rows = append(rows, ink.Spread(lead+pen.On(it.label)+" ", "  "+th.Muted.On(it.note)+" ", w))
	}
	if len(p.found) == 0 {
		rows = append(rows, "   "+th.Muted.On("Nothing here has these words. esc puts this away."))
	}
	for len(rows) < h-2 {
		rows = append(rows, "")
	}
	rows = append(rows, "", " "+th.Footer(w-2, []ink.Hint{{Key: "enter", Does: "do it"}, {Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "put away"}}))
	return rows, &tea.Position{X: 3 + at, Y: 1}
}
