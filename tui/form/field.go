package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

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
	About    ink.Text                // what the line is about, drawn above it, "" for nothing
	Keeps    *Paste                  // takes a text of several lines as a whole, nil where the line takes none
	Stands   string                  // what stands in the line for that text
	Lines    ink.Text                // why a text of several lines is refused, "" where it is taken as one
	Row      *Row                    // the line stands for a whole question, nil for a line alone
	Explain  bool                    // the hint stays in sight below the line in front, once there is a text
	was      string                  // what the line was filled with, "" for nothing
}

// Fill begins a line with a text.
func (f *Field) Fill(text string) {
	f.was = text
	f.Edit.Set(text)
}

// Hint says more in the hint of a line.
func (f *Field) Hint(more ink.Text) { f.hint += more }

func (f *Field) value() string {
	if f.Choices != nil {
		if f.Pick < 0 {
			return ""
		}
		return f.Choices[f.Pick].Value
	}
	return strings.TrimSpace(f.Edit.Value())
}

// pick writes the value that a number stands for into an empty line that begins with one
// of several values, so that it is seen before the words that follow it.
func (f *Field) pick(key string) bool {
	if f.Row == nil || len(f.Edit.runes) > 0 || len(key) != 1 || key[0] < '1' || int(key[0]-'1') >= len(f.Row.Values) {
		return false
	}
	f.Edit.Set(f.Row.Values[key[0]-'1'].Value + " ")
	return true
}

func (f *Field) complaint() ink.Text {
	v := f.value()
	switch {
	case v == "" && f.required && f.Choices != nil:
		return "Choose one: ↑ ↓ or its number."
	case v == "" && f.required:
		return ink.Say("%s is required.", f.label)
	case v != "" && f.Check != nil:
		return f.Check(v)
	}
	return ""
}

// draw draws the field, and says where the cursor is in it and in which row its choice
// stands.
func (fl *Field) draw(p *ink.Page, th *ink.Theme, wide int, on bool) (cur *tea.Position, picked int) {
	lead, pen := ink.Drawn("  "), th.Muted
	if on {
		lead, pen = th.Pick.On("▸ "), th.Strong
	}
	if fl.About != "" {
		p.Gap()
		p.Para(pen, fl.About)
	}
	label := lead + ink.Fit(pen.On(fl.label), wide) + "  "
	if fl.Choices != nil {
		for i, c := range fl.Choices {
			m, i2 := ink.Drawn("  "), th.Plain
			if i == fl.Pick {
				picked = len(p.Rows)
				m, i2 = th.Pick.On("● "), th.Strong
			}
			number := th.Key.On(ink.Say("%d ", i+1))
			if i >= 9 { // no key
				number = "  "
			}
			row := label + number + m + i2.On(ink.Shown(c.Value))
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
		return nil, picked
	}
	room := p.W - ink.Cells(label)
	drawnLine, at := fl.Edit.Draw(th.Plain, room)
	switch {
	case len(fl.Edit.runes) == 0:
		drawnLine = th.Muted.On(ink.Clip(fl.hint, room))
	case !on: // no cursor is in it, so that its beginning tells more
		drawnLine = fl.Edit.Begins(th.Plain, room)
	}
	p.Add(label + drawnLine)
	if !on {
		return nil, 0
	}
	cur = &tea.Position{X: ink.Cells(label) + at, Y: len(p.Rows) - 1}
	if fl.Explain && len(fl.Edit.runes) > 0 {
		p.Item(ink.Blank(ink.Cells(label)), th.Muted, fl.hint)
	}
	return cur, 0
}

// Choice is one of the values of a field, and what it means.
type Choice struct {
	Value string
	Help  ink.Text
}

// Column is how wide the values of a list are drawn: whole, where that leaves room for what
// they mean in as many cells.
func Column(cs []Choice, room int) int {
	wide := 0
	for _, c := range cs {
		wide = max(wide, ink.Cells(ink.Drawn(ink.Shown(c.Value))))
	}
	return min(wide, max(16, room-leastHelp))
}

// Part is a heading with what stands below it.
type Part struct {
	Head  ink.Text
	Lines []ink.Text
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
