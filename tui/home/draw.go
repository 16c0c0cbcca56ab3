package home

import (
	"slices"
	"time"

	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Draw fills w by h cells.
func (h *Screen) Draw(env *screen.Env, w, height int) []ink.Drawn {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On("When a change fails halfway:") + " " + th.Plain.On("evidence first, then the smallest safe step."))
	p.Add(th.Muted.On("handrail only reads until you open a gate and type its phrase."))
	if h.err != "" {
		p.Gap()
		p.Item(th.Bad.On("✗ "), th.Plain, h.err)
		p.Item(ink.Blank(2), th.Muted, "What could not be read is missing below. Press r to refresh.")
	}
	if n := h.drilling(); n > 0 && !h.drills {
		p.Add(th.Muted.On(ink.Say("Unfinished drills: %d. Key: %s", n, env.Keys.Practise.Help().Key)))
	}
	if line := h.find.Search(th, w-4, h.searching); line != "" {
		p.Gap()
		p.Add(line)
	}
	p.Gap()
	body := height - len(p.Rows)
	sections := []section{incidents, rightNow, debts, reviews, library}
	switch {
	case h.find.Value() != "":
		sections = []section{incidents, rightNow, debts, reviews, Practice, library}
	case h.drills:
		sections = []section{Practice}
	}
	if !slices.ContainsFunc(h.Rows, func(r HomeRow) bool { return r.Section == reviews }) {
		sections = slices.DeleteFunc(sections, func(s section) bool { return s == reviews })
	}
	if w < twoColumns || h.drills {
		rows, at := h.list(env, w, h.drills, sections...)
		rows, _ = ink.Window(rows, at-body/2, body)
		return append(p.Rows, rows...)
	}
	rw := w / 3
	lw := w - 6 - rw // what is wrong has the room
	aside := slices.IndexFunc(sections, func(s section) bool { return s == Practice || s == library })
	left, at := h.list(env, lw, true, sections[:aside]...)
	if p := (ink.Page{W: lw, Theme: th}); len(left)+13 <= body {
		drawLoop(&p)
		left = append(append(left, ""), p.Rows...)
	}
	left, _ = ink.Window(left, at-body/2, body)
	right, at := h.list(env, rw, true, sections[aside:]...)
	right, _ = ink.Window(right, at-body/2, body)
	return append(p.Rows, ink.Beside("      ", []int{lw, rw}, left, right)...)
}

// twoColumns is the width from which on the library stands beside the rest.
const twoColumns = 120

// drilling is how many drills were begun and neither finished nor stopped.
func (h *Screen) drilling() int {
	n := 0
	for _, r := range h.Rows {
		if r.Section == Practice && r.resumes {
			n++
		}
	}
	return n
}

// drawLoop says what a walk will be like, where there is room for it.
func drawLoop(p *ink.Page) {
	th := p.Theme
	p.Add(th.Title.On("THE LOOP"))
	for _, l := range []struct{ phase, asks ink.Text }{
		{"declare", "is this an incident, and how bad?"},
		{"preserve", "capture what a fix would destroy"},
		{"locate", "where in the path did it fail?"},
		{"mutation", "did it change anything?"},
		{"compare", "desired, recorded and actual, side by side"},
		{"classify", "what kind of failure is it?"},
		{"authority", "who may act, and can a retry make it worse?"},
		{"recover", "the smallest safe step, behind a gate"},
		{"verify", "green twice, apart: green once is not proof"},
		{"learn", "what is owed, and what should change"},
	} {
		p.Item("  "+ink.Fit(th.Strong.On(l.phase), 11), th.Muted, l.asks)
	}
}

// list draws sections, and says on which line the cursor is. Where they are tall, a
// row says all of it.
func (h *Screen) list(env *screen.Env, w int, tall bool, which ...section) ([]ink.Drawn, int) {
	rows, cursor := h.sections(env, w, tall, which)
	if !h.Moved {
		cursor = 0 // what came above the first row is seen
	}
	return rows, cursor
}

func (h *Screen) sections(env *screen.Env, w int, tall bool, which []section) ([]ink.Drawn, int) {
	th, cursor := &env.Theme, 0
	p := ink.Page{W: w, Theme: th}
	nth, at := 0, h.ordinal(which)
	for _, s := range which {
		if s == rightNow && env.Config.Centre == nil {
			continue
		}
		title, empty := sectionTexts(s)
		n, wide := h.measure(s)
		if s == rightNow && h.find.Value() == "" {
			n = h.Centre.count()
		}
		count := ink.Drawn("")
		if n > 0 {
			count = "  " + th.Muted.On(ink.Say("%d", n))
		}
		p.Gap()
		p.Add(th.Title.On(title) + count)
		if s == rightNow && tall {
			cursor = h.drawWide(env, &p, cursor)
			continue
		}
		if n == 0 && (s != rightNow || h.find.Value() != "") {
			switch {
			case h.Loading:
				empty = "loading …"
			case h.find.Value() != "":
				empty = "no match"
			}
			p.Item("  ", th.Muted, empty)
		}
		for i := range h.Rows {
			r := &h.Rows[i]
			if r.Section != s || !h.seen(i) {
				continue
			}
			nth++
			if i == h.At {
				cursor = len(p.Rows)
			}
			switch {
			case nth < at-env.H || nth > at+env.H: // out of sight: of a long list only what is near is drawn
				p.Rows = append(p.Rows, "")
			case tall && s != library:
				r.drawTall(&p, wide, i == h.At, env.Now)
			case r.long:
				r.drawLong(&p, wide, i == h.At, 2)
			default:
				p.Add(r.draw(th, w, wide, i == h.At, env.Now))
				if r.about != "" {
					p.Add(ink.Blank(wide+4) + th.Muted.On(ink.Clip(r.about, w-wide-4)))
				}
			}
		}
		if s == rightNow && h.find.Value() == "" {
			h.Centre.draw(&p)
		}
	}
	return p.Rows, cursor
}

// ordinal is which of the rows of a column the cursor is on, counted from 1; 1
// where it is in another column.
func (h *Screen) ordinal(which []section) int {
	if at, ok := h.chosen(); !ok || !slices.Contains(which, at.Section) {
		return 1
	}
	n := 0
	for _, s := range which {
		for i := range h.Rows {
			if h.Rows[i].Section == s && h.seen(i) {
				if n++; i == h.At {
					return n
				}
			}
		}
	}
	return 1
}

func (h *Screen) measure(s section) (n, wide int) {
	for i := range h.Rows {
		if h.Rows[i].Section == s && h.seen(i) {
			n++
			wide = max(wide, h.Rows[i].wide)
		}
	}
	switch s {
	case debts:
		wide = max(wide, 6)
	case rightNow:
		wide += 2 // its sign
	}
	return n, wide
}

func (r HomeRow) draw(th *ink.Theme, w, wide int, on bool, at time.Time) ink.Drawn {
	lead, pen, first := r.lead(th, on)
	beside, note := r.state(at), ink.Drawn("")
	room := w / 3
	if r.Section == rightNow {
		beside, room = ink.Aged(at, r.since, r.note), w/4
	}
	if beside != "" && w >= 56 {
		note = "  " + th.Muted.On(ink.Clip(beside, room))
	}
	return ink.Spread(lead+ink.Fit(first, wide)+"  "+pen.On(r.main)+" ", note, w)
}

// drawLong draws a row on as many lines as it takes, up to most.
func (r HomeRow) drawLong(p *ink.Page, wide int, on bool, most int) {
	lead, pen, first := r.lead(p.Theme, on)
	before := len(p.Rows)
	p.Item(lead+ink.Fit(first, wide)+"  ", pen, r.main)
	if len(p.Rows) > before+most {
		last := before + most - 1
		p.Rows = append(p.Rows[:last], ink.Cut(p.Rows[last]+pen.On(" …"), p.W))
	}
}

// lead is what a row begins with, and how its text is drawn.
func (r HomeRow) lead(th *ink.Theme, on bool) (ink.Drawn, ink.Ink, ink.Drawn) {
	lead, pen, first := ink.Drawn("  "), th.Plain, th.Strong.On(r.left)
	if on {
		lead, pen, first = th.Pick.On("▸ "), th.Pick, th.Pick.On(r.left)
	}
	if r.mark != nil {
		first = r.mark(th)
	}
	return lead, pen, first
}

// drawTall draws a row with everything it says, where the screen is wide enough
// for two columns.
func (r HomeRow) drawTall(p *ink.Page, wide int, on bool, at time.Time) {
	th := p.Theme
	lead, pen, first := r.lead(th, on)
	main, room := r.main, p.W-wide-4
	if lines := ink.Wrap(main, room); r.Section == Practice && len(lines) > 2 {
		main = lines[0] + " " + ink.Clip(lines[1]+" …", room) // the sheet of the drill says all of it
	}
	p.Item(lead+ink.Fit(first, wide)+"  ", pen, main)
	for _, t := range []ink.Text{r.about, r.state(at)} {
		if t != "" {
			p.Item(ink.Blank(wide+4), th.Muted, t)
		}
	}
}

// state is where an incident stands, and how long it is open.
func (r HomeRow) state(at time.Time) ink.Text {
	if !r.resumes || r.since.IsZero() {
		return r.note
	}
	return r.note + " · open for " + ink.Ago(at.Sub(r.since))
}

func sectionTexts(s section) (title, empty ink.Text) {
	switch s {
	case incidents:
		return "OPEN INCIDENTS", "None. Press p and paste the error you see."
	case rightNow:
		return "RIGHT NOW", ""
	case debts:
		return "CARRIED DEBTS", "No carried debts."
	case reviews:
		return "REVIEWS", ""
	case Practice:
		return "PRACTISE", "No drill is installed."
	}
	return "RUNBOOKS", "The library is empty."
}

// move says what enter would do on the home screen.
func (h *Screen) move() ink.Text {
	if h.At < 0 || len(h.Rows) == 0 {
		return "Paste an error"
	}
	if !h.seen(h.At) {
		return ""
	}
	return h.Rows[h.At].move
}
