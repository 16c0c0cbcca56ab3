package tui

import (
	"context"
	"fmt"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// homeScreen is the command centre: what is open, what is owed, what can be
// practised and what is in the library.
type homeScreen struct {
	loading bool
	err     text
	data    Home
	rows    []homeRow
	at      int
}

// homeRow is one line that can be chosen.
type homeRow struct {
	section          section
	id               string
	mark             func(*theme) drawn
	left, main, note text
	since            time.Time
	move             text // what enter does
	variants         []string
}

type section int

const (
	incidents section = iota
	debts
	practice
	library
)

type homeMsg struct {
	data Home
	err  error
}

func (m *model) loadHome() tea.Cmd {
	if m.c.Home == nil {
		return nil
	}
	return m.crew.start(func(ctx context.Context) tea.Msg {
		h, err := m.c.Home(ctx)
		return homeMsg{h, err}
	})
}

func (h *homeScreen) take(msg homeMsg) {
	h.loading, h.data, h.rows, h.err = false, msg.data, nil, ""
	if msg.err != nil {
		h.err = shown(msg.err.Error())
	}
	for _, r := range msg.data.Incidents {
		h.rows = append(h.rows, incidentRow(r))
	}
	for _, r := range msg.data.Debts {
		h.rows = append(h.rows, debtRow(r))
	}
	for _, r := range msg.data.Drills {
		h.rows = append(h.rows, homeRow{section: practice, id: r.ID, left: shown(r.ID), main: shown(r.Page),
			move: say("Practise %s", r.ID), variants: r.Variants})
	}
	for _, r := range msg.data.Runbooks {
		h.rows = append(h.rows, homeRow{section: library, id: r.ID, left: shown(r.ID), main: shown(r.Title), note: shown(r.Severity),
			move: say("Start an incident with %s", r.ID)})
	}
	h.at = min(h.at, max(0, len(h.rows)-1))
}

func incidentRow(r IncidentRow) homeRow {
	out := homeRow{section: incidents, id: r.ID, left: shown(r.Severity), main: shown(r.Title), move: say("Resume %s", r.ID), since: r.Opened}
	out.note = shown(r.Phase)
	if r.Drill != "" {
		out.note += " · drill"
	}
	out.mark = func(t *theme) drawn { return t.severity(shown(r.Severity)).on(shown(r.Severity)) }
	return out
}

func debtRow(r DebtRow) homeRow {
	out := homeRow{section: debts, id: r.Incident, left: "owed", main: shown(r.Text), note: say("%s, until %s", r.Owner, r.Until), move: say("Open %s, which owes this", r.Incident)}
	out.mark = func(t *theme) drawn { return t.muted.on("○ owed") }
	if r.Overdue {
		out.mark = func(t *theme) drawn { return t.warn.on("! late") }
		out.note = say("overdue since %s, %s", r.Until, r.Owner)
	}
	return out
}

func (m *model) pressHome(msg tea.KeyPressMsg) tea.Cmd {
	h := &m.home
	switch {
	case key.Matches(msg, m.keys.Leave):
		return m.quit()
	case key.Matches(msg, m.keys.Help):
		m.openHelp()
	case key.Matches(msg, m.keys.Up):
		h.at = max(0, h.at-1)
	case key.Matches(msg, m.keys.Down):
		h.at = max(0, min(len(h.rows)-1, h.at+1))
	case key.Matches(msg, m.keys.Paste):
		m.at = atMatch
	case key.Matches(msg, m.keys.Practise):
		h.jump(practice)
	case key.Matches(msg, m.keys.Library):
		h.jump(library)
	case key.Matches(msg, m.keys.Reload):
		h.loading = true
		return m.loadHome()
	case key.Matches(msg, m.keys.Enter):
		return m.openRow()
	}
	return nil
}

func (h *homeScreen) jump(s section) {
	for i, r := range h.rows {
		if r.section == s {
			h.at = i
			return
		}
	}
}

func (m *model) openRow() tea.Cmd {
	if len(m.home.rows) == 0 {
		m.at = atMatch
		return nil
	}
	r := m.home.rows[m.home.at]
	switch r.section {
	case incidents, debts:
		return m.resume(r.id)
	case practice:
		if len(r.variants) > 0 {
			m.form = m.variantForm(r)
			return nil
		}
		return m.drill(r.id, "")
	}
	return m.startRunbook(r.id)
}

func (m *model) variantForm(r homeRow) *form {
	cs := []choice{{"as it is", "the drill's own course"}}
	for _, v := range r.variants {
		cs = append(cs, choice{v, ""})
	}
	return &form{title: say("Practise %s", r.id), intro: []text{r.main}, fields: []field{oneOf("variant", "variant", cs)},
		submit: func(v map[string]string) tea.Cmd {
			if v["variant"] == cs[0].value {
				return m.drill(r.id, "")
			}
			return m.drill(r.id, v["variant"])
		}}
}

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
	p.gap()
	body := height - len(p.rows)
	if w < 120 {
		rows, at := h.list(m, w, incidents, debts, practice, library)
		rows, _ = window(rows, at-body/2, body)
		return append(p.rows, rows...)
	}
	lw := (w - 6) / 2
	left, at := h.list(m, lw, incidents, debts)
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
	for _, s := range which {
		title, empty := sectionTexts(s)
		n, wide := h.measure(s)
		count := drawn("")
		if n > 0 {
			count = "  " + th.muted.on(say("%d", n))
		}
		p.gap()
		p.add(th.title.on(title) + count)
		if n == 0 {
			if h.loading {
				empty = "looking …"
			}
			p.item("  ", th.muted, empty)
		}
		for i, r := range h.rows {
			if r.section != s {
				continue
			}
			if i == h.at {
				cursor = len(p.rows)
			}
			if len(which) < 4 && s != library {
				r.drawTall(&p, wide, i == h.at, m.now)
			} else {
				p.add(r.draw(th, w, wide, i == h.at))
			}
		}
	}
	return p.rows, cursor
}

func (h *homeScreen) measure(s section) (n, wide int) {
	for _, r := range h.rows {
		if r.section == s {
			n++
			wide = max(wide, min(26, cells(drawn(r.left))))
		}
	}
	if s == debts {
		wide = max(wide, 6)
	}
	return n, wide
}

func (r homeRow) draw(th *theme, w, wide int, on bool) drawn {
	lead, ink, first := drawn("  "), th.plain, th.strong.on(r.left)
	if on {
		lead, ink, first = th.pick.on("▸ "), th.pick, th.pick.on(r.left)
	}
	if r.mark != nil {
		first = r.mark(th)
	}
	note := drawn("")
	if r.note != "" && w >= 56 {
		note = "  " + th.muted.on(clip(r.note, w/3))
	}
	return spread(lead+fit(first, wide)+"  "+ink.on(r.main)+" ", note, w)
}

// drawTall draws a row with everything it says, where the screen is wide enough
// for two columns.
func (r homeRow) drawTall(p *page, wide int, on bool, now time.Time) {
	th := p.th
	lead, ink, first := drawn("  "), th.plain, th.strong.on(r.left)
	if on {
		lead, ink, first = th.pick.on("▸ "), th.pick, th.pick.on(r.left)
	}
	if r.mark != nil {
		first = r.mark(th)
	}
	p.item(lead+fit(first, wide)+"  ", ink, r.main)
	note := r.note
	if !r.since.IsZero() {
		note += " · open for " + ago(now.Sub(r.since))
	}
	if note != "" {
		p.item(blank(wide+4), th.muted, note)
	}
}

func sectionTexts(s section) (title, empty text) {
	switch s {
	case incidents:
		return "OPEN INCIDENTS", "None. Press p and paste the error you are looking at."
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
