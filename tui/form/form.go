package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// Form is the sheet in which every question that needs words is answered. It
// collects values and hands them to submit; it knows nothing of intents. Without
// fields it is read, and at is how far it is scrolled; where it has a Submit all
// the same, enter agrees to what stands there.
type Form struct {
	Title   ink.Text
	Intro   []ink.Text
	Parts   []Part // below the intro
	Fields  []Field
	at      int
	wrong   ink.Text
	Heads   func(f *Form) // writes title and intro anew where questions were taken off
	Submit  func(v map[string]string) tea.Cmd
	Does    ink.Text                                              // what enter does at the end, "" for sending
	Pairs   bool                                                  // a line may fill others, as name=value name=value
	All     bool                                                  // enter sends the whole sheet from any line: it can be accepted as it is
	Lacks   func(v map[string]string) (name string, why ink.Text) // what the lines lack together, "" for nothing
	Whole   bool                                                  // it is sent only once all that stands above its fields was in sight
	from    int                                                   // of a Whole one: the first line in sight
	top     int                                                   // of a form of questions: the first line in sight
	laid    int                                                   // and for which question, counted from one, it was laid there
	briefly bool                                                  // and enter came to it, since its proposal was not in sight
	page    int                                                   // and how many there are at once
	unseen  bool                                                  // and whether there are lines below that were not in sight yet
	Over    bool                                                  // it is a note, over whatever else is in front
	Under   *Form                                                 // the sheet that it lies over
	Came    bool                                                  // it came by itself, and takes no enter before it could be seen
}

// leastHelp is the room that the help of a choice needs beside it.
const leastHelp = 20

// wordsChooseNothing is said of text that is typed where only a choice is taken.
const wordsChooseNothing = "Choose with ↑ ↓, or with backspace and a number. Enter goes to the next line."

// Press handles a key. Over is true when the form is done or dismissed.
func (f *Form) Press(msg tea.KeyPressMsg) (cmd tea.Cmd, over bool) {
	if len(f.Fields) == 0 {
		return f.pressRead(msg.String())
	}
	cur := &f.Fields[f.at]
	switch s := msg.String(); s {
	case "esc":
		return nil, true
	case "pgdown", "pgup":
		f.turn(s == "pgdown")
	case "enter":
		if f.rowed() {
			return f.enterRow()
		}
		if f.unseen {
			f.turn(true)
			return nil, false
		}
		return f.enter()
	case "tab":
		f.line(1)
	case "shift+tab":
		f.line(-1)
	case "down":
		f.move(1)
	case "up":
		f.move(-1)
	default:
		words := f.wrong == wordsChooseNothing
		f.wrong = ""
		if cur.Choices == nil {
			if cur.pick(s) {
				return nil, false
			}
			if cur.Edit.Key(msg); f.rowed() {
				f.from = 0 // the line is in sight while it is typed
			}
			return nil, false
		}
		n := len(cur.Choices)
		switch {
		case s == "right":
			cur.Pick = (cur.Pick + 1) % n
		case s == "left":
			cur.Pick = (max(cur.Pick, 0) + n - 1) % n
		case s == "backspace":
		case words && msg.Text != "": // a number in a sentence is no choice
			f.wrong = wordsChooseNothing
		case len(s) == 1 && s[0] >= '1' && int(s[0]-'1') < n:
			cur.Pick = int(s[0] - '1')
		default:
			f.wrong = wordsChooseNothing
		}
	}
	return nil, false
}

// turn shows another page of what stands above the fields.
func (f *Form) turn(on bool) {
	f.wrong = ""
	if on {
		f.from += f.page
	} else {
		f.from = max(0, f.from-f.page)
	}
	f.page = 0 // until it is drawn: two keys at once pass nothing over
}

// pressRead scrolls what is only read, and says whether it was put away.
func (f *Form) pressRead(key string) (cmd tea.Cmd, over bool) {
	switch key {
	case "up", "k":
		f.at = max(0, f.at-1)
	case "down", "j":
		f.at++
	case "esc", "q":
		return nil, true
	case "enter":
		if f.Submit != nil {
			return f.Submit(nil), true
		}
		return nil, true
	}
	return nil, false
}

// AtFirstEmpty puts the cursor on the first line of text that holds nothing, where there
// is one.
func (f *Form) AtFirstEmpty() {
	f.at = max(0, slices.IndexFunc(f.Fields, func(fl Field) bool { return fl.Choices == nil && fl.value() == "" }))
}

// move goes to another field; a choice moves inside itself first, since up and
// down is how its lines are drawn.
func (f *Form) move(by int) {
	cur := &f.Fields[f.at]
	if cur.Choices != nil {
		if next := cur.Pick + by; next >= 0 && next < len(cur.Choices) {
			cur.Pick, f.wrong = next, ""
			return
		}
	}
	f.line(by)
}

// line goes to another field, past what a choice has left.
func (f *Form) line(by int) {
	f.at, f.wrong = min(max(f.at+by, 0), len(f.Fields)-1), ""
	if f.rowed() {
		f.from, f.briefly = 0, false
	}
}

func (f *Form) enter() (tea.Cmd, bool) {
	if f.spread() {
		return nil, false
	}
	if bad := f.Fields[f.at].complaint(); bad != "" {
		f.wrong = bad
		return nil, false
	}
	if f.at < len(f.Fields)-1 && !f.All {
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
	if f.Lacks != nil {
		if name, why := f.Lacks(v); why != "" {
			f.RefuseAt(name, why)
			return nil, false
		}
	}
	return f.Submit(v), true
}

// Paste puts the clipboard into the field in front, where that takes text.
func (f *Form) Paste(s string) {
	if len(f.Fields) == 0 {
		return
	}
	if cur := &f.Fields[f.at]; cur.Choices == nil {
		f.wrong = ""
		if cur.Keeps != nil && strings.Contains(strings.TrimSpace(s), "\n") {
			if cur.value() != cur.Stands {
				*cur.Keeps = Paste{}
			}
			cur.Keeps.Add(s)
			cur.Edit.Set(cur.Stands)
			if cur.Keeps.Cut > 0 {
				f.wrong = cur.Keeps.Shortened()
			}
			return
		}
		if cur.Lines != "" && strings.Contains(strings.TrimSpace(s), "\n") && f.given(strings.Join(strings.Fields(s), " ")) == nil {
			f.wrong = cur.Lines
			return
		}
		cur.Edit.Paste(strings.Join(strings.Fields(s), " "))
	}
}

// Most is how many lines the form may have on a screen of h below its header: a form of
// questions needs all of it, and another leaves room for what it is about.
func (f *Form) Most(h int) int {
	if f.rowed() {
		return max(9, h)
	}
	return max(9, h-4)
}

// Draw returns the sheet in h lines at most, and where the cursor is on it.
func (f *Form) Draw(th *ink.Theme, w, h int) (rows []ink.Drawn, cur *tea.Position) {
	p := ink.Page{W: w - 2, Theme: th}
	for _, t := range f.Intro {
		p.Para(th.Muted, t)
	}
	for _, part := range f.Parts {
		p.Para(th.Title, part.Head)
		for _, t := range part.Lines {
			p.Item("  ", th.Plain, t)
		}
	}
	if len(f.Fields) == 0 {
		return f.drawRead(th, &p, w, h), nil
	}
	if f.rowed() {
		return f.drawRows(th, &p, w, h)
	}
	p.Gap()
	above := len(p.Rows)
	wide := 0
	for _, fl := range f.Fields {
		wide = max(wide, min(24, ink.Cells(ink.Drawn(fl.label))))
	}
	focus, choice := 0, 0
	for i := range f.Fields {
		fl, on := &f.Fields[i], i == f.at
		if on {
			focus = len(p.Rows)
		}
		c, picked := fl.draw(&p, th, wide, on)
		if c != nil {
			cur = c
		}
		if on {
			choice = picked
		}
	}
	wrong := ink.Page{W: w - 2, Theme: th} // in sight wherever the fields are scrolled to
	if f.wrong != "" {
		wrong.Item(th.Warn.On("! "), th.Warn, f.wrong)
	}
	room := max(3, h-3-len(wrong.Rows))
	off, moves := 0, ink.Text("move")
	var keys []ink.Hint
	var readOn ink.Text
	f.unseen = false
	switch {
	case len(p.Rows) > room && f.Whole:
		keys, readOn = f.turned(&p, above, room)
	case len(p.Rows) > room:
		if f.All {
			moves = ink.Say("move, line %d of %d", f.at+1, len(f.Fields))
		}
		off = max(0, min(focus-1, len(p.Rows)-room), min(choice+2, len(p.Rows))-room) // of a long list what is picked is seen
		p.Rows = p.Rows[off : off+room]
	}
	rows = append(rows, f.head(th, w))
	for _, r := range slices.Concat(p.Rows, wrong.Rows) {
		rows = append(rows, " "+r)
	}
	next := ink.Or(f.Does, "send")
	switch {
	case f.unseen:
		next = readOn
	case f.at < len(f.Fields)-1 && !f.All:
		next = "next line"
	}
	keys = append([]ink.Hint{{Key: "enter", Does: next}, {Key: "↑ ↓", Does: moves}, {Key: "esc", Does: "cancel"}}, keys...)
	rows = append(rows, "", " "+th.Footer(w-2, keys))
	if cur != nil {
		cur.X, cur.Y = cur.X+1, cur.Y+1-off
	}
	return rows, cur
}

// turned keeps a page of the lines above the fields, and the fields. It begins with the
// first line: what stands there could be what matters most.
func (f *Form) turned(p *ink.Page, above, room int) (keys []ink.Hint, readOn ink.Text) {
	fields := slices.Clone(p.Rows[above-1:]) // with the empty line before them
	f.page = max(1, room-len(fields))
	last := above - 1
	f.from = max(0, min(f.from, last-f.page))
	to := min(last, f.from+f.page)
	f.unseen = to < last
	p.Rows = append(slices.Clone(p.Rows[f.from:to]), fields...)
	return []ink.Hint{{Key: "pgup pgdn", Does: "page"}}, ink.Say("read on, %d of %d lines seen", to, last)
}

func (f *Form) drawRead(th *ink.Theme, p *ink.Page, w, h int) []ink.Drawn {
	all := len(p.Rows)
	rows := []ink.Drawn{f.head(th, w)}
	var seen []ink.Drawn
	room := max(3, h-3)
	if f.Submit != nil {
		room = min(room, all) // it stands below what it is about
	}
	seen, f.at = ink.Window(p.Rows, f.at, room)
	for _, r := range seen {
		rows = append(rows, " "+r)
	}
	keys := []ink.Hint{{Key: "enter", Does: ink.Or(f.Does, "back")}}
	if f.Submit != nil {
		keys = []ink.Hint{{Key: "enter", Does: ink.Or(f.Does, "send")}, {Key: "esc", Does: "cancel"}}
		if f.wrong != "" {
			rows = append(rows, " "+th.Warn.On("! ")+th.Warn.On(ink.Clip(f.wrong, w-4)))
		}
	}
	if all > len(seen) {
		keys = append(keys, ink.Hint{Key: "↑ ↓", Does: "scroll"})
	}
	return append(rows, "", " "+th.Footer(w-2, keys))
}
