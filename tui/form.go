package tui

import (
	"handrail/tui/ink"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// form is the sheet in which every question that needs words is answered. It
// collects values and hands them to submit; it knows nothing of intents. Without
// fields there is only something to read, and at is how far it is scrolled.
type form struct {
	title  ink.Text
	intro  []ink.Text
	fields []field
	at     int
	wrong  ink.Text
	submit func(v map[string]string) tea.Cmd
	over   bool  // it is a note, over whatever else is in front
	under  *form // the sheet that it lies over
}

// field is one line of a form: free text, or one of choices.
type field struct {
	name     string
	label    ink.Text
	hint     ink.Text
	required bool
	choices  []choice
	pick     int
	edit     editor
	check    func(s string) ink.Text // "" when s is fine
}

type choice struct {
	value string
	help  ink.Text
}

// leastHelp is the room that the help of a choice needs beside it.
const leastHelp = 20

func (f *field) value() string {
	if f.choices != nil {
		if f.pick < 0 {
			return ""
		}
		return f.choices[f.pick].value
	}
	return strings.TrimSpace(f.edit.value())
}

// press handles a key. Over is true when the form is done or dismissed.
func (f *form) press(msg tea.KeyPressMsg) (cmd tea.Cmd, over bool) {
	if len(f.fields) == 0 {
		return nil, f.pressRead(msg.String())
	}
	cur := &f.fields[f.at]
	switch s := msg.String(); s {
	case "esc":
		return nil, true
	case "enter":
		return f.enter()
	case "tab", "down":
		f.move(1)
	case "shift+tab", "up":
		f.move(-1)
	default:
		f.wrong = ""
		if cur.choices == nil {
			cur.edit.key(msg)
			return nil, false
		}
		n := len(cur.choices)
		switch {
		case s == "right" || s == "space":
			cur.pick = (cur.pick + 1) % n
		case s == "left":
			cur.pick = (max(cur.pick, 0) + n - 1) % n
		case len(s) == 1 && s[0] >= '1' && int(s[0]-'1') < n:
			cur.pick = int(s[0] - '1')
		default:
			f.wrong = "This line is a choice: its number, or ↑ ↓. Enter goes on to the next line."
		}
	}
	return nil, false
}

// pressRead scrolls what is only read, and says whether it was put away.
func (f *form) pressRead(key string) bool {
	switch key {
	case "up", "k":
		f.at = max(0, f.at-1)
	case "down", "j":
		f.at++
	case "esc", "enter", "q":
		return true
	}
	return false
}

// move goes to another field; a choice moves inside itself first, since up and
// down is how its lines are drawn.
func (f *form) move(by int) {
	cur := &f.fields[f.at]
	if cur.choices != nil {
		if next := cur.pick + by; next >= 0 && next < len(cur.choices) {
			cur.pick = next
			return
		}
	}
	f.at = min(max(f.at+by, 0), len(f.fields)-1)
}

func (f *form) enter() (tea.Cmd, bool) {
	if bad := f.fields[f.at].complaint(); bad != "" {
		f.wrong = bad
		return nil, false
	}
	if f.at < len(f.fields)-1 {
		f.at++
		return nil, false
	}
	v := make(map[string]string, len(f.fields))
	for i := range f.fields {
		if bad := f.fields[i].complaint(); bad != "" {
			f.at, f.wrong = i, bad
			return nil, false
		}
		v[f.fields[i].name] = f.fields[i].value()
	}
	return f.submit(v), true
}

func (f *field) complaint() ink.Text {
	v := f.value()
	switch {
	case v == "" && f.required && f.choices != nil:
		return "Choose one: ↑ ↓ or its number."
	case v == "" && f.required:
		return ink.Say("%s: this needs some words.", f.label)
	case v != "" && f.check != nil:
		return f.check(v)
	}
	return ""
}

func (f *form) paste(s string) {
	if len(f.fields) == 0 {
		return
	}
	if cur := &f.fields[f.at]; cur.choices == nil {
		f.wrong = ""
		cur.edit.paste(strings.Join(strings.Fields(s), " "))
	}
}

// draw returns the sheet in h lines at most, and where the cursor is on it.
func (f *form) draw(th *ink.Theme, w, h int) (rows []ink.Drawn, cur *tea.Position) {
	p := ink.Page{W: w - 2, Theme: th}
	for _, t := range f.intro {
		p.Para(th.Muted, t)
	}
	if len(f.fields) == 0 {
		return f.drawRead(th, &p, w, h), nil
	}
	p.Gap()
	wide := 0
	for _, fl := range f.fields {
		wide = max(wide, min(24, ink.Cells(ink.Drawn(fl.label))))
	}
	focus := 0
	for i := range f.fields {
		fl, on := &f.fields[i], i == f.at
		if on {
			focus = len(p.Rows)
		}
		if c := fl.draw(&p, th, wide, on); c != nil {
			cur = c
		}
	}
	if f.wrong != "" {
		p.Item(th.Warn.On("! "), th.Warn, f.wrong)
	}
	room := max(3, h-3)
	off := 0
	if len(p.Rows) > room {
		off = max(0, min(focus-1, len(p.Rows)-room))
		p.Rows = p.Rows[off : off+room]
	}
	rows = append(rows, f.head(th, w))
	for _, r := range p.Rows {
		rows = append(rows, " "+r)
	}
	next := ink.Text("send")
	if f.at < len(f.fields)-1 {
		next = "next line"
	}
	rows = append(rows, "", " "+th.Footer(w-2, []ink.Hint{{Key: "enter", Does: next}, {Key: "↑ ↓", Does: "move"}, {Key: "esc", Does: "put away, nothing is sent"}}))
	if cur != nil {
		cur.X, cur.Y = cur.X+1, cur.Y+1-off
	}
	return rows, cur
}

func (f *form) head(th *ink.Theme, w int) ink.Drawn {
	head := th.Accent.On("── ") + th.Title.On(f.title) + " "
	return head + th.Accent.On(ink.Line("─", w-ink.Cells(head)))
}

func (f *form) drawRead(th *ink.Theme, p *ink.Page, w, h int) []ink.Drawn {
	all := len(p.Rows)
	rows := []ink.Drawn{f.head(th, w)}
	var seen []ink.Drawn
	seen, f.at = ink.Window(p.Rows, f.at, max(3, h-3))
	for _, r := range seen {
		rows = append(rows, " "+r)
	}
	keys := []ink.Hint{{Key: "enter", Does: "back"}}
	if all > len(seen) {
		keys = append(keys, ink.Hint{Key: "↑ ↓", Does: "scroll"})
	}
	return append(rows, "", " "+th.Footer(w-2, keys))
}

func (fl *field) draw(p *ink.Page, th *ink.Theme, wide int, on bool) *tea.Position {
	lead, pen := ink.Drawn("  "), th.Muted
	if on {
		lead, pen = th.Pick.On("▸ "), th.Strong
	}
	label := lead + ink.Fit(pen.On(fl.label), wide) + "  "
	if fl.choices != nil {
		for i, c := range fl.choices {
			m, i2 := ink.Drawn("  "), th.Plain
			if i == fl.pick {
				m, i2 = th.Pick.On("● "), th.Strong
			}
			row := label + th.Key.On(ink.Say("%d ", i+1)) + m + i2.On(ink.Shown(c.value))
			switch {
			case c.help != "" && ink.Cells(row)+leastHelp > p.W: // no room beside it
				p.Add(row)
				p.Item(ink.Blank(ink.Cells(label)+4), th.Muted, c.help)
			case c.help != "":
				p.Item(row+"  ", th.Muted, c.help)
			default:
				p.Add(row)
			}
			label = ink.Blank(ink.Cells(label))
		}
		return nil
	}
	room := p.W - ink.Cells(label)
	drawnLine, at := fl.edit.draw(th.Plain, room)
	if len(fl.edit.runes) == 0 {
		drawnLine = th.Faint.On(ink.Clip(fl.hint, room))
	}
	p.Add(label + drawnLine)
	if on {
		return &tea.Position{X: ink.Cells(label) + at, Y: len(p.Rows) - 1}
	}
	return nil
}

// named returns a field of free text.
func named(name string, label, hint ink.Text, required bool) field {
	return field{name: name, label: label, hint: hint, required: required}
}

// oneOf returns a field of choices with none chosen, so that enter alone cannot
// answer it.
func oneOf(name string, label ink.Text, cs []choice) field {
	return field{name: name, label: label, required: true, choices: slices.Clip(cs), pick: -1}
}

// hasWords says whether every word, in small letters, stands in one of the texts.
func hasWords(words []string, in ...string) bool {
	all := strings.ToLower(strings.Join(in, " "))
	for _, w := range words {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}
