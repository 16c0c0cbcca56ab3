package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// Row makes a line stand for a whole question: what it asks, what is proposed and on what,
// and what may be said. In front it shows all of that, elsewhere one line, and what is
// proposed with its reason.
type Row struct {
	Ask    ink.Text   // in one line
	Stands ink.Text   // what is sent where the line stays empty, "" for nothing
	Why    []ink.Text // why that is proposed
	On     []ink.Text // and on what
	Says   []ink.Text // what helps to answer
	Shows  []ink.Pair // the facts that it is about
	Values []Choice   // what the line begins with, nil where it is in any words
	Needs  ink.Text   // what the words must name
	seen   bool       // all of it was in sight
}

// Asked returns a line for a question.
func Asked(name string, label ink.Text, row Row, check func(s string) ink.Text) Field {
	return Field{name: name, label: label, Row: &row, Check: check}
}

// Begun reads the value that a line begins with, by its number or by its word, and what
// stands after it. It is false where the line begins with none of them.
func Begun(values []Choice, line string) (value, words string, ok bool) {
	line = strings.TrimSpace(line)
	for i, c := range values {
		as := []string{c.Value, strings.ReplaceAll(c.Value, "_", " ")}
		if i < 9 {
			as = append(as, string(rune('1'+i)))
		}
		for _, word := range as {
			if len(line) < len(word) || !strings.EqualFold(line[:len(word)], word) {
				continue
			}
			if rest := line[len(word):]; rest == "" || strings.ContainsAny(rest[:1], " :,;") {
				return c.Value, strings.TrimLeft(rest, " :,;"), true
			}
		}
	}
	return "", "", false
}

// rowed says that the lines are questions.
func (f *Form) rowed() bool { return len(f.Fields) > 0 && f.Fields[0].Row != nil }

// next is the line that enter goes to, -1 for none: after the one in front, around the end
// only once that says something, the next that says nothing and for which nothing is
// proposed; then one that was not in sight.
func (f *Form) next() int {
	around := f.at < 0 || f.Fields[f.at].value() != "" || f.Fields[f.at].Row.Stands != ""
	for _, lacks := range []func(at int) bool{
		func(at int) bool {
			fl := &f.Fields[at]
			return fl.value() == "" && fl.Row.Stands == "" && (around || at > f.at)
		},
		func(at int) bool { return !f.Fields[at].Row.seen },
	} {
		for n := 1; n <= len(f.Fields); n++ {
			if at := (f.at + n) % len(f.Fields); at != f.at && lacks(at) {
				return at
			}
		}
	}
	return -1
}

// AtOpen puts the cursor on the first question for which nothing is proposed.
func (f *Form) AtOpen() {
	f.at = -1
	f.at = max(0, f.next())
}

// enterRow takes the line in front: the rest of it that was not in sight comes, then the next
// that is open, and all are sent once none is. What is left empty is not sent.
func (f *Form) enterRow() (tea.Cmd, bool) {
	if bad := f.Fields[f.at].complaint(); bad != "" {
		f.wrong = bad
		return nil, false
	}
	if f.unseen {
		f.from, f.page = f.from+f.page, 0
		return nil, false
	}
	if next := f.next(); next >= 0 {
		f.at, f.from = next, 0
		fl := &f.Fields[next]
		f.briefly = fl.Row.Stands != "" && fl.value() == ""
		return nil, false
	}
	v := make(map[string]string, len(f.Fields))
	for i := range f.Fields {
		if bad := f.Fields[i].complaint(); bad != "" {
			f.at, f.from, f.wrong = i, 0, bad
			return nil, false
		}
		v[f.Fields[i].name] = f.Fields[i].value()
	}
	if f.Lacks != nil {
		if name, why := f.Lacks(v); why != "" {
			f.RefuseAt(name, why)
			return nil, false
		}
	}
	return f.Submit(v), true
}

// Asks reports whether a question has this name.
func (f *Form) Asks(name string) bool {
	return f.rowed() && slices.ContainsFunc(f.Fields, func(fl Field) bool { return fl.name == name })
}

// Drop takes questions off, since what their lines said was recorded.
func (f *Form) Drop(names ...string) {
	f.Fields = slices.DeleteFunc(f.Fields, func(fl Field) bool { return slices.Contains(names, fl.name) })
	f.at, f.from = 0, 0
	if f.Heads != nil {
		f.Heads(f)
	}
}

// drawRows draws a form of questions in h lines at most. Its window is on the one in front,
// from its first line on; a question is in sight once its last line was, and one that takes what
// is proposed once that was, with its reason and its facts: the other choices are not agreed to.
func (f *Form) drawRows(th *ink.Theme, p *ink.Page, w, h int) (rows []ink.Drawn, cur *tea.Position) {
	wide := 0
	for _, fl := range f.Fields {
		wide = max(wide, min(16, ink.Cells(ink.Drawn(fl.label))))
	}
	wrong := ink.Page{W: w - 2, Theme: th}
	if f.wrong != "" {
		wrong.Item(th.Warn.On("! "), th.Warn, f.wrong)
	}
	room := max(3, h-2-len(wrong.Rows))
	var begin, told int
	ends, above := make([]int, len(f.Fields)), len(p.Rows)
	for _, most := range []int{mostBeside, 0} { // where there is no room, a proposal has no choices beside it
		p.Rows = p.Rows[:above]
		for i := range f.Fields {
			if i == f.at {
				begin = len(p.Rows)
			}
			if c, row := f.Fields[i].drawRow(p, th, wide, i == f.at, f.briefly, most); c != nil {
				cur, told = c, row
			}
			ends[i] = len(p.Rows)
		}
		if len(p.Rows) <= room {
			break
		}
	}
	off := f.window(begin, ends, room)
	front := f.Fields[f.at].Row
	front.seen = front.seen || told <= off+room
	f.page, f.unseen = max(1, room-1), !front.seen
	first := 0
	for i, end := range ends {
		if fl := &f.Fields[i]; i != f.at && first >= off && end <= off+room {
			fl.Row.seen = true
		}
		first = end
	}
	more := len(p.Rows) > room
	if off > begin { // its first line stays in sight; the one below it was the last of the page before
		p.Rows[off] = p.Rows[begin]
		if cur != nil {
			cur.Y += off - begin
		}
	}
	p.Rows = p.Rows[off:min(len(p.Rows), off+room)]
	rows = append(rows, f.head(th, w))
	for _, r := range slices.Concat(p.Rows, wrong.Rows) {
		rows = append(rows, " "+r)
	}
	keys := []ink.Hint{{Key: "enter", Does: f.nextRow()}, {Key: "↑ ↓", Does: "move"}, {Key: "esc", Does: "cancel"}}
	if more {
		keys[1].Does = ink.Say("move, line %d of %d", f.at+1, len(f.Fields))
	}
	if !more && len(rows) < h-1 {
		rows = append(rows, "")
	}
	rows = append(rows, " "+th.Footer(w-2, keys))
	if cur != nil {
		if cur.X, cur.Y = cur.X+1, cur.Y+1-off; cur.Y < 1 {
			cur = nil
		}
	}
	return rows, cur
}

// window is the first line in sight of a form of questions: the one in front is, from its first
// line on, and as many as can be of those that were not in sight yet. It stays where it is until
// another is in front.
func (f *Form) window(begin int, ends []int, room int) int {
	end, all := ends[f.at], ends[len(ends)-1]
	if all <= room {
		return 0
	}
	if end-begin > room {
		return begin + min(f.from, end-begin-room)
	}
	least, most := max(0, end-room), min(begin, all-room)
	off := min(max(f.top, least), most)
	if f.laid != f.at+1 {
		f.laid = f.at + 1
		for at := least; at <= most; at++ {
			if f.shows(at, ends, room) > f.shows(off, ends, room) {
				off = at
			}
		}
	}
	f.top = off
	return off
}

// shows is how many questions that were not in sight yet are in a window.
func (f *Form) shows(off int, ends []int, room int) (n int) {
	first := 0
	for i, end := range ends {
		if !f.Fields[i].Row.seen && first >= off && end <= off+room {
			n++
		}
		first = end
	}
	return n
}

// nextRow is what enter does.
func (f *Form) nextRow() ink.Text {
	switch {
	case f.unseen:
		return "read on"
	case f.next() >= 0:
		return "next line"
	}
	return ink.Or(f.Does, "send")
}

// drawRow draws a question, and says where the cursor is in it and after which row all is told
// that enter agrees to.
func (fl *Field) drawRow(p *ink.Page, th *ink.Theme, wide int, on, briefly bool, most int) (cur *tea.Position, told int) {
	row := fl.Row
	lead, pen := ink.Drawn("  "), th.Plain
	if on {
		lead, pen = th.Pick.On("▸ "), th.Strong
	}
	label := lead + ink.Fit(pen.On(fl.label), wide) + "  "
	inset := ink.Blank(ink.Cells(label))
	room := p.W - ink.Cells(label)
	line, at := fl.Edit.Draw(th.Plain, room)
	switch {
	case len(fl.Edit.runes) > 0 && !on: // what it begins with is its value
		line = fl.Edit.Begins(th.Plain, room)
	case len(fl.Edit.runes) > 0:
	case row.Stands != "":
		line = th.Title.On(ink.Clip(row.Stands, room-10)) + th.Muted.On("  proposed")
	case on:
		line = th.Muted.On(ink.Clip(row.hint(), room))
	default:
		line = th.Muted.On(ink.Clip(row.Ask, room))
	}
	p.Add(label + line)
	if on {
		cur = &tea.Position{X: ink.Cells(label) + at, Y: len(p.Rows) - 1}
		p.Item(inset, th.Strong, row.Ask)
	}
	if row.Stands != "" && (on || len(fl.Edit.runes) == 0) {
		for _, t := range row.Why {
			p.Item(inset, th.Muted, t)
		}
		p.Flow(inset+th.Muted.On("· "), th.Muted, " · ", row.On)
	}
	switch told = len(p.Rows); {
	case on && briefly && len(fl.Edit.runes) == 0:
		p.Item(inset, th.Muted, "Begin another value, and all about it comes.")
	case on:
		told = row.drawHelp(p, th, ink.Cells(inset), fl.value(), most)
	}
	return cur, told
}

// drawHelp draws what helps to fill in the line in front, and says after which row all is told
// that enter agrees to.
func (r *Row) drawHelp(p *ink.Page, th *ink.Theme, inset int, line string, most int) (told int) {
	for _, t := range r.Says {
		p.Item(ink.Blank(inset), th.Plain, t)
	}
	p.Pairs(inset, 0, 24, r.Shows)
	told = len(p.Rows)
	if len(r.Values) > most && r.Stands != "" && line == "" {
		p.Flow(ink.Blank(inset)+th.Muted.On("or  "), th.Muted, " · ", append(r.others(), "begin one, and each says what it means"))
		return told
	}
	said, _, _ := Begun(r.Values, line)
	wide := Column(r.Values, p.W-inset-6)
	for i, c := range r.Values {
		mark, pen := ink.Drawn("  "), th.Plain
		if c.Value == said {
			mark, pen = th.Pick.On("● "), th.Strong
		}
		number := th.Key.On(ink.Say("%d ", i+1))
		if i >= 9 { // no key
			number = "  "
		}
		p.Item(ink.Blank(inset)+number+mark+ink.Fit(pen.On(ink.Shown(c.Value)), wide)+"  ", th.Muted, c.Help)
	}
	if r.Needs != "" {
		p.Item(ink.Blank(inset)+th.Muted.On("names  "), th.Muted, r.Needs)
	}
	if r.Stands == "" || line != "" {
		told = len(p.Rows)
	}
	return told
}

// mostBeside is how many choices a proposal has beside it with what each means, where there is
// room. More stand in a few words, until a person begins to write another.
const mostBeside = 6

// others names the choices beside a proposal, each with its key.
func (r *Row) others() []ink.Text {
	var all []ink.Text
	for i, c := range r.Values {
		if i < 9 {
			all = append(all, ink.Say("%d %s", i+1, c.Value))
		} else {
			all = append(all, ink.Shown(c.Value))
		}
	}
	return all
}

// hint says how the line is filled in.
func (r *Row) hint() ink.Text {
	if len(r.Values) == 0 {
		return "in a sentence"
	}
	return "one of these, then how it is known"
}
