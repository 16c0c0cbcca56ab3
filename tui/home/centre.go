package home

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// centre is what the questions of the command centre came to so far.
type centre struct {
	Run     int // which asking it is; answers to an older one are dropped
	Asking  bool
	Answers map[string]steps.Answer
	cancel  context.CancelFunc
}

// frameTime is how long the first frame has before the first question is asked.
const frameTime = 50 * time.Millisecond

// FramedMsg says that the first frame is on the screen.
type FramedMsg struct{}

// Framed also has the terminal say its size once more: a window that was pulled
// at before anything listened for that would stay half drawn.
func Framed() tea.Cmd {
	return tea.Batch(tea.Tick(frameTime, func(time.Time) tea.Msg { return FramedMsg{} }),
		tea.Tick(frameTime, func(time.Time) tea.Msg { return tea.RequestWindowSize() }))
}

// AnswerMsg is one answer; next waits for the one after it.
type AnswerMsg struct {
	Run  int
	A    steps.Answer
	next tea.Cmd
}

// askedMsg says that all questions were answered.
type askedMsg struct{ run int }

// Ask asks all questions beside the loop. Those of an asking before are given up.
func (h *Screen) Ask(env *screen.Env) tea.Cmd {
	if env.Config.Centre == nil {
		return nil
	}
	c := &h.Centre
	if c.cancel != nil {
		c.cancel()
	}
	ctx, cancel := context.WithCancel(env.Tasks.Ctx)
	c.Run, c.Asking, c.cancel, c.Answers = c.Run+1, true, cancel, map[string]steps.Answer{}
	h.arrange()
	run, centre := c.Run, env.Config.Centre
	answers := make(chan steps.Answer, len(steps.Questions()))
	over := env.Tasks.Start(func(context.Context) tea.Msg {
		defer cancel()
		defer close(answers)
		centre(ctx, func(a steps.Answer) {
			select {
			case answers <- a:
			case <-ctx.Done():
			}
		})
		return askedMsg{run}
	})
	var next tea.Cmd
	next = func() tea.Msg {
		a, more := <-answers
		if !more {
			return over()
		}
		return AnswerMsg{run, a, next}
	}
	return next
}

func (h *Screen) answered(msg AnswerMsg) tea.Cmd {
	c := &h.Centre
	if msg.Run != c.Run {
		return nil
	}
	c.Answers[msg.A.Question] = msg.A
	h.arrange()
	return msg.next
}

func (c *centre) took(msg askedMsg) {
	if msg.run == c.Run {
		c.Asking = false
	}
}

// mostOfOne is how many rows of one question are shown; the others are a key away.
const mostOfOne = 3

// standings are the rows of the home screen that the answers make.
func (c *centre) standings() []HomeRow {
	var out []HomeRow
	for _, q := range steps.Questions() {
		a := c.Answers[q.ID]
		for i, r := range a.Rows {
			row := HomeRow{Section: rightNow, ID: q.ID + " " + r.Where, left: ink.Shown(q.One), main: ink.Say("%s: %s", r.Where, r.What), since: r.Since, note: ink.Shown(r.Owner),
				move: ink.Say("Look at %s", r.Where), standing: &a.Rows[i], question: q.ID, folded: i >= mostOfOne}
			row.mark = func(t *ink.Theme) ink.Drawn {
				k := t.Level(string(r.Level))
				return k.Ink.On(k.Symbol + " " + ink.Shown(q.One))
			}
			out = append(out, row)
		}
		if n := len(a.Rows) + a.More - mostOfOne; n > 0 {
			out = append(out, HomeRow{Section: rightNow, ID: q.ID + " more", left: "  …", main: ink.Say("%d more: %s", n, q.Title), question: q.ID, Fold: true,
				move: ink.Say("See all %s", q.Title)})
		}
	}
	if why := c.unseen(); len(why) > 0 {
		var parts []string
		for _, g := range why {
			parts = append(parts, strings.Join(g.titles, ", ")+" ("+g.why+")")
		}
		out = append(out, HomeRow{Section: rightNow, ID: "not seen", left: "not seen", main: ink.Shown(strings.Join(parts, "; ")), long: true,
			mark: func(t *ink.Theme) ink.Drawn { return t.Warn.On("! not seen") }, move: "Show what could not be seen, and why"})
	}
	return out
}

// blind is why some questions could not be answered, or not wholly.
type blind struct {
	why    string
	titles []string
}

func (c *centre) unseen() []blind {
	var out []blind
	for _, q := range steps.Questions() {
		seen := map[string]bool{}
		for _, g := range c.Answers[q.ID].Blind() {
			why := brief(g)
			if seen[why] {
				continue
			}
			seen[why] = true
			i := slices.IndexFunc(out, func(b blind) bool { return b.why == why })
			if i < 0 {
				i = len(out)
				out = append(out, blind{why: why})
			}
			out[i].titles = append(out[i].titles, q.Title)
		}
	}
	return out
}

// brief is the reason of a gap in a few words; the sheet has all of it.
func brief(g steps.Gap) string { return string(ink.Clip(ink.Shown(g.Brief()), 70)) }

// quiet names the questions to which nothing was found, with nothing in the way,
// and pending those that were not answered yet.
func (c *centre) quiet() (quiet, pending []string) {
	for _, q := range steps.Questions() {
		a, answered := c.Answers[q.ID]
		switch {
		case !answered && c.Asking:
			pending = append(pending, q.Title)
		case answered && len(a.Rows) == 0 && len(a.Blind()) == 0:
			quiet = append(quiet, q.Title)
		}
	}
	return quiet, pending
}

// draw says in few lines what has no rows.
func (c *centre) draw(p *ink.Page) {
	th := p.Theme
	quiet, pending := c.quiet()
	switch n := len(pending); {
	case n > 4:
		p.Add("  " + th.Accent.On("● ") + th.Muted.On(ink.Say("checking: %d of %d questions", n, len(steps.Questions()))))
	case n > 0:
		p.Item("  "+th.Accent.On("● ")+th.Muted.On("checking: "), th.Muted, ink.Shown(strings.Join(pending, ", ")))
	}
	if len(quiet) > 0 {
		p.Item("  "+th.Good.On("✓ ")+th.Muted.On("nothing: "), th.Muted, ink.Shown(strings.Join(quiet, ", ")))
	}
}

// count is how many rows there are, shown or not.
func (c *centre) count() int {
	n := 0
	for _, a := range c.Answers {
		n += len(a.Rows) + a.More
	}
	return n
}

// drawWide draws a line for each question with its rows below it, and says on
// which line the cursor is.
func (h *Screen) drawWide(env *screen.Env, p *ink.Page, cursor int) int {
	row := func(i int) {
		if i == h.At {
			cursor = len(p.Rows)
		}
		h.Rows[i].drawBelow(p, i == h.At, env.Now)
	}
	for _, q := range steps.Questions() {
		if h.find.Value() == "" {
			h.Centre.drawQuestion(p, q)
		}
		for i, r := range h.Rows {
			if r.Section == rightNow && r.question == q.ID && h.seen(i) {
				row(i)
			}
		}
	}
	for i, r := range h.Rows {
		if r.Section == rightNow && r.question == "" && h.seen(i) {
			row(i)
		}
	}
	return cursor
}

func (c *centre) drawQuestion(p *ink.Page, q steps.Question) {
	th := p.Theme
	a, answered := c.Answers[q.ID]
	lead := func(sign ink.Drawn) ink.Drawn { return "  " + sign + ink.Fit(th.Plain.On(ink.Shown(q.Title)), 29) }
	switch {
	case !answered && c.Asking:
		p.Add(lead(th.Accent.On("● ")) + th.Muted.On("loading …"))
	case !answered:
	case len(a.Rows) > 0:
		k := th.Level(string(a.Rows[0].Level))
		p.Add(lead(k.Ink.On(k.Symbol+" ")) + th.Strong.On(ink.Say("%d", len(a.Rows)+a.More)))
	case len(a.Blind()) > 0:
		p.Add(lead(th.Warn.On("! ")) + th.Muted.On(ink.Say("not seen: %s", brief(a.Blind()[0]))))
	default:
		p.Add(lead(th.Good.On("✓ ")) + th.Muted.On(ink.Say("nothing in %s", strings.Join(a.Seen, ", "))))
	}
}

// drawBelow draws a row below its question: what it is, then its age and owner.
func (r HomeRow) drawBelow(p *ink.Page, on bool, at time.Time) {
	th := p.Theme
	lead, pen, _ := r.lead(th, on)
	switch {
	case r.long:
		p.Add(lead + th.Warn.On("! ") + pen.On("what was not seen, and why"))
	case r.Fold:
		p.Add(lead + "    " + pen.On(r.main))
	default:
		k := th.Level(string(r.standing.Level))
		p.Item(lead+"  "+k.Ink.On(k.Symbol+" "), pen, r.main)
		if note := ink.Trimmed(ink.Trail(at, r.since, r.note)); note != "" {
			p.Add(ink.Blank(6) + th.Muted.On(note))
		}
	}
}

// Known adds to what a text gave a runbook what the command centre knows: where one thing alone
// stands as the runbook is about, and nothing that was given speaks of another, its parameters. With
// several, to take one would be to guess.
func (h *Screen) Known(runbook string, given map[string]string) map[string]string {
	var found map[string]string
	for _, a := range h.Centre.Answers {
		for _, r := range a.Rows {
			if r.Runbook != runbook || !agrees(r.Params, given) {
				continue
			}
			if found != nil && !maps.Equal(found, r.Params) || a.More > 0 {
				return given
			}
			found = r.Params
		}
	}
	out := maps.Clone(found)
	if out == nil {
		return given
	}
	maps.Copy(out, given)
	return out
}

// agrees reports whether what was given says nothing else of a thing.
func agrees(of, given map[string]string) bool {
	for k, v := range given {
		if was, is := of[k]; is && was != v {
			return false
		}
	}
	return true
}
