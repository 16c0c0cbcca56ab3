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
	items []found
	found []int
	at    int
}

func newPalette(items []found) *commandPalette {
	p := &commandPalette{items: items}
	p.filter()
	return p
}

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

// press takes a key. Over says that the palette is done with, and do is what was
// chosen in it.
func (p *commandPalette) press(env *Env, msg tea.KeyPressMsg) (do func() tea.Cmd, over bool) {
	switch s := msg.String(); {
	case key.Matches(msg, env.keys.Esc), s == "ctrl+k":
		return nil, true
	case key.Matches(msg, env.keys.Enter):
		if len(p.found) > 0 {
			do = p.items[p.found[p.at]].do
		}
		return do, true
	case s == "up", s == "ctrl+p":
		p.at = max(0, p.at-1)
	case s == "down", s == "ctrl+n", s == "tab":
		p.at = max(0, min(p.at+1, len(p.found)-1))
	case s == "backspace" && p.edit.value() == "":
		return nil, true
	default:
		p.edit.key(msg)
		p.filter()
	}
	return nil, false
}

// paste puts the clipboard into the line.
func (p *commandPalette) paste(s string) {
	p.edit.paste(strings.Join(strings.Fields(s), " "))
	p.filter()
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
