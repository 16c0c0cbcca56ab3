package tui

import (
	"fmt"
	"slices"
	"time"
)

// draw fills w by h cells.
func (h *homeScreen) draw(m *model, w, height int) []drawn {
	th := &m.th
	p := page{w: w, th: th}
	p.add("")
	p.add(th.strong.on("When a change fails halfway:") + " " + th.plain.on("evidence first, then the smallest safe step."))
	p.add(th.muted.on("Everything here only reads, until you open a gate and type its phrase."))
	if h.err != "" {
		p.gap()
		p.item(th.bad.on("✗ "), th.plain, h.err)
		p.item(blank(2), th.muted, "What could not be read is missing below. r looks again.")
	}
	if h.typing || h.find.value() != "" {
		row, _ := h.find.draw(th.strong, w-4)
		caret := drawn("")
		if h.typing {
			caret = th.accent.on("▏")
		}
		p.gap()
		p.add(th.accent.on("/ ") + row + caret)
	}
	p.gap()
	body := height - len(p.rows)
	if w < 120 {
		rows, at := h.list(m, w, incidents, rightNow, debts, practice, library)
		rows, _ = window(rows, at-body/2, body)
		return append(p.rows, rows...)
	}
	lw := (w - 6) / 2
	left, at := h.list(m, lw, incidents, rightNow, debts)
	if p := (page{w: lw, th: th}); len(left)+13 <= body {
		drawLoop(&p)
		left = append(append(left, ""), p.rows...)
	}
	left, _ = window(left, at-body/2, body)
	right, at := h.list(m, w-6-lw, practice, library)
	right, _ = window(right, at-body/2, body)
	return append(p.rows, beside("      ", []int{lw, w - 6 - lw}, left, right)...)
}

// drawLoop says what a walk will be like, where there is room for it.
func drawLoop(p *page) {
	th := p.th
	p.add(th.title.on("THE LOOP"))
	for _, l := range []struct{ phase, asks text }{
		{"declare", "somebody says that this is an incident"},
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
		p.item("  "+fit(th.strong.on(l.phase), 11), th.muted, l.asks)
	}
}

// list draws sections, and says on which line the cursor is.
func (h *homeScreen) list(m *model, w int, which ...section) ([]drawn, int) {
	th, cursor := &m.th, 0
	p := page{w: w, th: th}
	nth, at := 0, h.ordinal(which)
	for _, s := range which {
		if s == rightNow && m.c.Centre == nil {
			continue
		}
		title, empty := sectionTexts(s)
		n, wide := h.measure(s)
		if s == rightNow && h.find.value() == "" {
			n = h.centre.count()
		}
		count := drawn("")
		if n > 0 {
			count = "  " + th.muted.on(say("%d", n))
		}
		p.gap()
		p.add(th.title.on(title) + count)
		if s == rightNow && len(which) < 4 {
			cursor = h.drawWide(m, &p, cursor)
			continue
		}
		if n == 0 && (s != rightNow || h.find.value() != "") {
			switch {
			case h.loading:
				empty = "looking …"
			case h.find.value() != "":
				empty = "nothing with these words"
			}
			p.item("  ", th.muted, empty)
		}
		for i := range h.rows {
			r := &h.rows[i]
			if r.section != s || !h.seen(i) {
				continue
			}
			nth++
			if i == h.at {
				cursor = len(p.rows)
			}
			switch {
			case nth < at-m.h || nth > at+m.h: // nobody sees it: of a long list only what is near is drawn
				p.rows = append(p.rows, "")
			case len(which) < 4 && s != library:
				r.drawTall(&p, wide, i == h.at, m.now)
			case r.long:
				r.drawLong(&p, wide, i == h.at, 2)
			default:
				p.add(r.draw(th, w, wide, i == h.at, m.now))
			}
		}
		if s == rightNow && h.find.value() == "" && len(which) >= 4 {
			h.centre.draw(&p)
		}
	}
	return p.rows, cursor
}

// ordinal is which of the rows of a column the cursor is on, counted from 1; 1
// where it is in another column.
func (h *homeScreen) ordinal(which []section) int {
	if h.at >= len(h.rows) || !slices.Contains(which, h.rows[h.at].section) {
		return 1
	}
	n := 0
	for _, s := range which {
		for i := range h.rows {
			if h.rows[i].section == s && h.seen(i) {
				if n++; i == h.at {
					return n
				}
			}
		}
	}
	return 1
}

func (h *homeScreen) measure(s section) (n, wide int) {
	for i := range h.rows {
		if h.rows[i].section == s && h.seen(i) {
			n++
			wide = max(wide, h.rows[i].wide)
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

func (r homeRow) draw(th *theme, w, wide int, on bool, at time.Time) drawn {
	lead, ink, first := r.lead(th, on)
	beside, note := r.note, drawn("")
	room := w / 3
	if r.section == rightNow {
		beside, room = aged(at, r.since, r.note), w/4
	}
	if beside != "" && w >= 56 {
		note = "  " + th.muted.on(clip(beside, room))
	}
	return spread(lead+fit(first, wide)+"  "+ink.on(r.main)+" ", note, w)
}

// drawLong draws a row on as many lines as it takes, up to most.
func (r homeRow) drawLong(p *page, wide int, on bool, most int) {
	lead, ink, first := r.lead(p.th, on)
	before := len(p.rows)
	p.item(lead+fit(first, wide)+"  ", ink, r.main)
	if len(p.rows) > before+most {
		last := before + most - 1
		p.rows = append(p.rows[:last], cut(p.rows[last]+ink.on(" …"), p.w))
	}
}

// lead is what a row begins with, and how its text is drawn.
func (r homeRow) lead(th *theme, on bool) (drawn, ink, drawn) {
	lead, ink, first := drawn("  "), th.plain, th.strong.on(r.left)
	if on {
		lead, ink, first = th.pick.on("▸ "), th.pick, th.pick.on(r.left)
	}
	if r.mark != nil {
		first = r.mark(th)
	}
	return lead, ink, first
}

// drawTall draws a row with everything it says, where the screen is wide enough
// for two columns.
func (r homeRow) drawTall(p *page, wide int, on bool, at time.Time) {
	th := p.th
	lead, ink, first := r.lead(th, on)
	main, room := r.main, p.w-wide-4
	if lines := wrap(main, room); r.section == practice && len(lines) > 2 {
		main = lines[0] + " " + clip(lines[1]+" …", room) // the sheet of the drill says all of it
	}
	p.item(lead+fit(first, wide)+"  ", ink, main)
	note := r.note
	if !r.since.IsZero() {
		note += " · open for " + ago(at.Sub(r.since))
	}
	if note != "" {
		p.item(blank(wide+4), th.muted, note)
	}
}

func sectionTexts(s section) (title, empty text) {
	switch s {
	case incidents:
		return "OPEN INCIDENTS", "None. Press p and paste the error you are looking at."
	case rightNow:
		return "RIGHT NOW", ""
	case debts:
		return "CARRIED DEBTS", "Nothing is owed to Git."
	case practice:
		return "PRACTISE", "No drill is installed."
	}
	return "RUNBOOKS", "The library is empty."
}

// move says what enter would do on the home screen.
func (h *homeScreen) move() text {
	if len(h.rows) == 0 {
		return "Paste an error"
	}
	if !h.seen(h.at) {
		return ""
	}
	return h.rows[h.at].move
}

// ago writes an age for people: two units at most.
func ago(d time.Duration) text {
	d = d.Truncate(time.Second)
	switch {
	case d < 0:
		return "in the future"
	case d < time.Minute:
		return say("%ds", int(d.Seconds()))
	case d < time.Hour:
		return text(fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60))
	case d < 48*time.Hour:
		return text(fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60))
	}
	return say("%d days", int(d.Hours())/24)
}
