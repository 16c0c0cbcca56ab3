package overlay

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Palette finds what can be done here by its words: commands, steps, rows
// of the list, themes. It does nothing that has no other way.
type Palette struct {
	edit  form.Editor
	items []screen.PaletteItem
	found []int
	at    int
}

// NewPalette is a palette in which these things are found.
func NewPalette(items []screen.PaletteItem) *Palette {
	p := &Palette{items: items}
	p.filter()
	return p
}

// filter keeps what has every word that was typed: first what begins as typed,
// then what has a word that does.
func (p *Palette) filter() {
	typed := strings.ToLower(strings.TrimSpace(p.edit.Value()))
	words := strings.Fields(typed)
	p.found, p.at = p.found[:0], 0
	var ranked [3][]int
	for i, it := range p.items {
		label := strings.ToLower(string(it.Label + " " + it.Note))
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

// Press takes a key. Over says that the palette is done with, and do is what was
// chosen in it.
func (p *Palette) Press(env *screen.Env, msg tea.KeyPressMsg) (do func() tea.Cmd, over bool) {
	switch s := msg.String(); {
	case key.Matches(msg, env.Keys.Esc), s == "ctrl+k":
		return nil, true
	case key.Matches(msg, env.Keys.Enter):
		if len(p.found) > 0 {
			do = p.items[p.found[p.at]].Do
		}
		return do, true
	case s == "up", s == "ctrl+p":
		p.at = max(0, p.at-1)
	case s == "down", s == "ctrl+n", s == "tab":
		p.at = max(0, min(p.at+1, len(p.found)-1))
	case s == "backspace" && p.edit.Value() == "":
		return nil, true
	default:
		p.edit.Key(msg)
		p.filter()
	}
	return nil, false
}

// Paste puts the clipboard into the line.
func (p *Palette) Paste(s string) {
	p.edit.Paste(strings.Join(strings.Fields(s), " "))
	p.filter()
}

// Draw returns the sheet in h lines at most, and where the cursor is on it.
func (p *Palette) Draw(th *ink.Theme, w, h int) ([]ink.Drawn, *tea.Position) {
	head := th.Accent.On("── ") + th.Title.On("Commands") + " "
	rows := []ink.Drawn{head + th.Accent.On(ink.Line("─", w-ink.Cells(head)))}
	typed, at := p.edit.Draw(th.Strong, w-4)
	rows = append(rows, " "+th.Pick.On("▸ ")+typed)
	room := max(1, h-4)
	from := max(0, min(p.at-room/2, len(p.found)-room))
	for n := from; n < min(len(p.found), from+room); n++ {
		it := p.items[p.found[n]]
		lead, pen := ink.Drawn("   "), th.Plain
		if n == p.at {
			lead, pen = " "+th.Pick.On("▸ "), th.Pick
		}
		rows = append(rows, ink.Spread(lead+pen.On(it.Label)+" ", "  "+th.Muted.On(it.Note)+" ", w))
	}
	if len(p.found) == 0 {
		rows = append(rows, "   "+th.Muted.On("No match. Press esc to close."))
	}
	for len(rows) < h-2 {
		rows = append(rows, "")
	}
	rows = append(rows, "", " "+th.Footer(w-2, []ink.Hint{{Key: "enter", Does: "run"}, {Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "close"}}))
	return rows, &tea.Position{X: 3 + at, Y: 1}
}
