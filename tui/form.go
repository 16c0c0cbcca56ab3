package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// form is the sheet in which every question that needs words is answered. It
// collects values and hands them to submit; it knows nothing of intents. Without
// fields there is only something to read, and at is how far it is scrolled.
type form struct {
	title  text
	intro  []text
	fields []field
	at     int
	wrong  text
	submit func(v map[string]string) tea.Cmd
	over   bool  // it is a note, over whatever else is in front
	under  *form // the sheet that it lies over
}

// field is one line of a form: free text, or one of choices.
type field struct {
	name     string
	label    text
	hint     text
	required bool
	choices  []choice
	pick     int
	edit     editor
	check    func(s string) text // "" when s is fine
}

type choice struct {
	value string
	help  text
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

func (f *field) complaint() text {
	v := f.value()
	switch {
	case v == "" && f.required && f.choices != nil:
		return "Choose one: ↑ ↓ or its number."
	case v == "" && f.required:
		return say("%s: this needs some words.", f.label)
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
func (f *form) draw(th *theme, w, h int) (rows []drawn, cur *tea.Position) {
	p := page{w: w - 2, th: th}
	for _, t := range f.intro {
		p.para(th.muted, t)
	}
	if len(f.fields) == 0 {
		return f.drawRead(th, &p, w, h), nil
	}
	p.gap()
	wide := 0
	for _, fl := range f.fields {
		wide = max(wide, min(24, cells(drawn(fl.label))))
	}
	focus := 0
	for i := range f.fields {
		fl, on := &f.fields[i], i == f.at
		if on {
			focus = len(p.rows)
		}
		if c := fl.draw(&p, th, wide, on); c != nil {
			cur = c
		}
	}
	if f.wrong != "" {
		p.item(th.warn.on("! "), th.warn, f.wrong)
	}
	room := max(3, h-3)
	off := 0
	if len(p.rows) > room {
		off = max(0, min(focus-1, len(p.rows)-room))
		p.rows = p.rows[off : off+room]
	}
	rows = append(rows, f.head(th, w))
	for _, r := range p.rows {
		rows = append(rows, " "+r)
	}
	next := text("send")
	if f.at < len(f.fields)-1 {
		next = "next line"
	}
	rows = append(rows, "", " "+th.footer(w-2, []hint{{"enter", next}, {"↑ ↓", "move"}, {"esc", "put away, nothing is sent"}}))
	if cur != nil {
		cur.X, cur.Y = cur.X+1, cur.Y+1-off
	}
	return rows, cur
}

func (f *form) head(th *theme, w int) drawn {
	head := th.accent.on("── ") + th.title.on(f.title) + " "
	return head + th.accent.on(line("─", w-cells(head)))
}

func (f *form) drawRead(th *theme, p *page, w, h int) []drawn {
	all := len(p.rows)
	rows := []drawn{f.head(th, w)}
	var seen []drawn
	seen, f.at = window(p.rows, f.at, max(3, h-3))
	for _, r := range seen {
		rows = append(rows, " "+r)
	}
	keys := []hint{{"enter", "back"}}
	if all > len(seen) {
		keys = append(keys, hint{"↑ ↓", "scroll"})
	}
	return append(rows, "", " "+th.footer(w-2, keys))
}

func (fl *field) draw(p *page, th *theme, wide int, on bool) *tea.Position {
	lead, ink := drawn("  "), th.muted
	if on {
		lead, ink = th.pick.on("▸ "), th.strong
	}
	label := lead + fit(ink.on(fl.label), wide) + "  "
	if fl.choices != nil {
		for i, c := range fl.choices {
			m, i2 := drawn("  "), th.plain
			if i == fl.pick {
				m, i2 = th.pick.on("● "), th.strong
			}
			row := label + th.key.on(say("%d ", i+1)) + m + i2.on(shown(c.value))
			switch {
			case c.help != "" && cells(row)+leastHelp > p.w: // no room beside it
				p.add(row)
				p.item(blank(cells(label)+4), th.muted, c.help)
			case c.help != "":
				p.item(row+"  ", th.muted, c.help)
			default:
				p.add(row)
			}
			label = blank(cells(label))
		}
		return nil
	}
	room := p.w - cells(label)
	drawnLine, at := fl.edit.draw(th.plain, room)
	if len(fl.edit.runes) == 0 {
		drawnLine = th.faint.on(clip(fl.hint, room))
	}
	p.add(label + drawnLine)
	if on {
		return &tea.Position{X: cells(label) + at, Y: len(p.rows) - 1}
	}
	return nil
}

// named returns a field of free text.
func named(name string, label, hint text, required bool) field {
	return field{name: name, label: label, hint: hint, required: required}
}

// oneOf returns a field of choices with none chosen, so that enter alone cannot
// answer it.
func oneOf(name string, label text, cs []choice) field {
	return field{name: name, label: label, required: true, choices: slices.Clip(cs), pick: -1}
}
