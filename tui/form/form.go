package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// Form is the sheet in which every question that needs words is answered. It
// collects values and hands them to submit; it knows nothing of intents. Without
// fields there is only something to read, and at is how far it is scrolled.
type Form struct {
	Title  ink.Text
	Intro  []ink.Text
	Fields []Field
	at     int
	wrong  ink.Text
	Submit func(v map[string]string) tea.Cmd
	Over   bool  // it is a note, over whatever else is in front
	Under  *Form // the sheet that it lies over
}

// Field is one line of a form: free text, or one of choices.
type Field struct {
	name     string
	label    ink.Text
	hint     ink.Text
	required bool
	Choices  []Choice
	Pick     int
	Edit     Editor
	Check    func(s string) ink.Text // "" when s is fine
}

// Choice is one of the values of a field, and what it means.
type Choice struct {
	Value string
	Help  ink.Text
}

// leastHelp is the room that the help of a choice needs beside it.
const leastHelp = 20

func (f *Field) value() string {
	if f.Choices != nil {
		if f.Pick < 0 {
			return ""
		}
		return f.Choices[f.Pick].Value
	}
	return strings.TrimSpace(f.Edit.Value())
}

// Press handles a key. Over is true when the form is done or dismissed.
func (f *Form) Press(msg tea.KeyPressMsg) (cmd tea.Cmd, over bool) {
	if len(f.Fields) == 0 {
		return nil, f.pressRead(msg.String())
	}
	cur := &f.Fields[f.at]
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
		if cur.Choices == nil {
			cur.Edit.Key(msg)
			return nil, false
		}
		n := len(cur.Choices)
		switch {
		case s == "right" || s == "space":
			cur.Pick = (cur.Pick + 1) % n
		case s == "left":
			cur.Pick = (max(cur.Pick, 0) + n - 1) % n
		case len(s) == 1 && s[0] >= '1' && int(s[0]-'1') < n:
			cur.Pick = int(s[0] - '1')
		default:
			f.wrong = "This line is a choice: its number, or ↑ ↓. Enter goes on to the next line."
		}
	}
	return nil, false
}

// pressRead scrolls what is only read, and says whether it was put away.
func (f *Form) pressRead(key string) bool {
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
func (f *Form) move(by int) {
	cur := &f.Fields[f.at]
	if cur.Choices != nil {
		if next := cur.Pick + by; next >= 0 && next < len(cur.Choices) {
			cur.Pick = next
			return
		}
	}
	f.at = min(max(f.at+by, 0), len(f.Fields)-1)
}

func (f *Form) enter() (tea.Cmd, bool) {
	if bad := f.Fields[f.at].complaint(); bad != "" {
		f.wrong = bad
		return nil, false
	}
	if f.at < len(f.Fields)-1 {
		f.at++
		return nil, false
	}
	v := make(map[string]string, len(f.Fields))
	for i := range f.Fields {
		if bad := f.Fields[i].complaint(); bad != "" {
			f.at, f.wrong = i, bad
			return nil, false
		}
		v[f.Fields[i].name] = f.Fields[i].value()
	}
	return f.Submit(v), true
}

func (f *Field) complaint() ink.Text {
	v := f.value()
	switch {
	case v == "" && f.required && f.Choices != nil:
		return "Choose one: ↑ ↓ or its number."
	case v == "" && f.required:
		return ink.Say("%s: this needs some words.", f.label)
	case v != "" && f.Check != nil:
		return f.Check(v)
	}
	return ""
}

// Paste puts the clipboard into the field in front, where that takes text.
func (f *Form) Paste(s string) {
	if len(f.Fields) == 0 {
		return
	}
	if cur := &f.Fields[f.at]; cur.Choices == nil {
		f.wrong = ""
		cur.Edit.Paste(strings.Join(strings.Fields(s), " "))
	}
}

// Draw returns the sheet in h lines at most, and where the cursor is on it.
func (f *Form) Draw(th *ink.Theme, w, h int) (rows []ink.Drawn, cur *tea.Position) {
	p := ink.Page{W: w - 2, Theme: th}
	for _, t := range f.Intro {
		p.Para(th.Muted, t)
	}
	if len(f.Fields) == 0 {
		return f.drawRead(th, &p, w, h), nil
	}
	p.Gap()
	wide := 0
	for _, fl := range f.Fields {
		wide = max(wide, min(24, ink.Cells(ink.Drawn(fl.label))))
	}
	focus := 0
	for i := range f.Fields {
		fl, on := &f.Fields[i], i == f.at
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
	if f.at < len(f.Fields)-1 {
		next = "next line"
	}
	rows = append(rows, "", " "+th.Footer(w-2, []ink.Hint{{Key: "enter", Does: next}, {Key: "↑ ↓", Does: "move"}, {Key: "esc", Does: "put away, nothing is sent"}}))
	if cur != nil {
		cur.X, cur.Y = cur.X+1, cur.Y+1-off
	}
	return rows, cur
}

func (f *Form) head(th *ink.Theme, w int) ink.Drawn {
	head := th.Accent.On("── ") + th.Title.On(f.Title) + " "
	return head + th.Accent.On(ink.Line("─", w-ink.Cells(head)))
}

func (f *Form) drawRead(th *ink.Theme, p *ink.Page, w, h int) []ink.Drawn {
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

func (fl *Field) draw(p *ink.Page, th *ink.Theme, wide int, on bool) *tea.Position {
	lead, pen := ink.Drawn("  "), th.Muted
	if on {
		lead, pen = th.Pick.On("▸ "), th.Strong
	}
	label := lead + ink.Fit(pen.On(fl.label), wide) + "  "
	if fl.Choices != nil {
		for i, c := range fl.Choices {
			m, i2 := ink.Drawn("  "), th.Plain
			if i == fl.Pick {
				m, i2 = th.Pick.On("● "), th.Strong
			}
			row := label + th.Key.On(ink.Say("%d ", i+1)) + m + i2.On(ink.Shown(c.Value))
			switch {
			case c.Help != "" && ink.Cells(row)+leastHelp > p.W: // no room beside it
				p.Add(row)
				p.Item(ink.Blank(ink.Cells(label)+4), th.Muted, c.Help)
			case c.Help != "":
				p.Item(row+"  ", th.Muted, c.Help)
			default:
				p.Add(row)
			}
			label = ink.Blank(ink.Cells(label))
		}
		return nil
	}
	room := p.W - ink.Cells(label)
	drawnLine, at := fl.Edit.Draw(th.Plain, room)
	if len(fl.Edit.runes) == 0 {
		drawnLine = th.Faint.On(ink.Clip(fl.hint, room))
	}
	p.Add(label + drawnLine)
	if on {
		return &tea.Position{X: ink.Cells(label) + at, Y: len(p.Rows) - 1}
	}
	return nil
}

// Named returns a field of free text.
func Named(name string, label, hint ink.Text, required bool) Field {
	return Field{name: name, label: label, hint: hint, required: required}
}

// OneOf returns a field of choices with none chosen, so that enter alone cannot
// answer it.
func OneOf(name string, label ink.Text, cs []Choice) Field {
	return Field{name: name, label: label, required: true, Choices: slices.Clip(cs), Pick: -1}
}

// HasWords says whether every word, in small letters, stands in one of the texts.
func HasWords(words []string, in ...string) bool {
	all := strings.ToLower(strings.Join(in, " "))
	for _, w := range words {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}
