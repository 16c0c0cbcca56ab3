package run

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session/debrief"
	"handrail/session/report"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Aftermath is what is known of an incident after its close.
type Aftermath struct {
	Asked, Judging bool
	Drill          *debrief.Drill // nil for a real incident, and while it is judged
	err            ink.Text       // why the drill could not be judged
	seq            int64          // that of was made for
	of             *debrief.Debriefing
}

// JudgedMsg says how a drill was judged.
type JudgedMsg struct {
	Inc   screen.Incident
	Drill *debrief.Drill
	err   error
}

// Judge asks once, beside the loop, how the drill of a closed incident went.
func (r *Screen) Judge(env *screen.Env) tea.Cmd {
	c := &r.After
	if c.Asked || !r.Closed() || env.Replaying() || env.Config.Debrief == nil {
		return nil
	}
	c.Asked, c.Judging = true, true
	inc := env.Incident
	return env.Tasks.Start(func(ctx context.Context) tea.Msg {
		d, err := env.Config.Debrief(ctx, inc)
		return JudgedMsg{inc, d, err}
	})
}

func (r *Screen) judged(env *screen.Env, msg JudgedMsg) {
	if msg.Inc != env.Incident {
		return // of an incident that was left
	}
	c := &r.After
	c.Judging, c.Drill, c.of = false, msg.Drill, nil
	if msg.err != nil {
		c.err = ink.Shown(msg.err.Error())
	}
}

// briefing is the debriefing of the state that is shown.
func (r *Screen) briefing() *debrief.Debriefing {
	c, s := &r.After, r.Snap.State
	if c.of == nil || c.seq != s.Seq {
		of := debrief.Of(s, c.Drill)
		c.of, c.seq = &of, s.Seq
	}
	return c.of
}

// drawDebrief is what stays on the screen after the close. It has the whole
// width, so that paths and commands can be copied.
func (r *Screen) drawDebrief(env *screen.Env, h int) []ink.Drawn {
	d := r.briefing()
	w := env.W - 2*screen.Inset
	if env.W < sideBySide {
		p := ink.Page{W: w, Theme: &env.Theme}
		r.debriefTop(env, &p, d)
		if d.Compared() {
			r.debriefPath(env, &p, d)
			r.debriefRest(&p, d)
		} else { // it teaches less, so that the report comes first
			r.debriefRest(&p, d)
			r.debriefPath(env, &p, d)
		}
		return r.scrolled(env, p.Rows, h)
	}
	left, right := ink.Page{W: w*54/100 - 2, Theme: &env.Theme}, ink.Page{W: w - w*54/100 - 2, Theme: &env.Theme}
	rest := ink.Page{W: w, Theme: &env.Theme}
	r.debriefTop(env, &left, d)
	r.debriefPath(env, &right, d)
	right.Rows = append([]ink.Drawn{""}, right.Rows...)
	rest.Add("")
	r.debriefRest(&rest, d)
	all := max(len(left.Rows), len(right.Rows))
	for _, p := range []*ink.Page{&left, &right} {
		for len(p.Rows) < all {
			p.Rows = append(p.Rows, "")
		}
	}
	both := ink.Beside(env.Theme.Faint.On("│")+" ", []int{left.W + 2, right.W}, left.Rows, right.Rows)
	return r.scrolled(env, append(both, rest.Rows...), h)
}

// scrolled shows h rows of a screen that has no panes.
func (r *Screen) scrolled(env *screen.Env, rows []ink.Drawn, h int) []ink.Drawn {
	for i := range rows {
		rows[i] = ink.Blank(screen.Inset) + rows[i]
	}
	all := len(rows)
	rows, r.Off = ink.Window(rows, r.Off, h)
	if more := all - r.Off - h; more > 0 {
		rows[h-1] = ink.Blank(screen.Inset) + env.Theme.Muted.On(ink.Say("↓ %d more lines: pgdn", more+1))
	}
	return rows
}

// debriefTop says how it ended, whether a drill is won, how soon there was
// evidence and what had to be stopped.
func (r *Screen) debriefTop(env *screen.Env, p *ink.Page, d *debrief.Debriefing) {
	th, c := p.Theme, &r.After
	p.Add("")
	mk := ink.Mark{Symbol: "✓", Word: "RECOVERED", Ink: th.Good}
	if d.Outcome != "recovered" {
		mk = ink.Mark{Symbol: "!", Word: ink.Say("CLOSED AS %s", d.Outcome), Ink: th.Warn}
	}
	p.Add(mk.Ink.On(mk.Symbol) + " " + mk.Ink.On(mk.Word) + th.Muted.On(ink.Say("  after %s", env.Elapsed(env.Now))))
	switch {
	case c.Judging:
		p.Item(th.Accent.On("● "), th.Accent, "Judging the drill …")
	case c.err != "":
		p.Item(th.Warn.On("! "), th.Plain, ink.Say("The drill could not be judged: %s", c.err))
	case d.Drill != nil:
		r.debriefWon(p, d)
	}
	p.Gap()
	r.debriefNext(env, p)
	p.Head("TIMINGS")
	var rows []ink.Pair
	for _, x := range d.Marks {
		v, pen := ink.Say("%s", ink.Ago(x.After)), th.Plain
		if !x.Reached {
			v, pen = "never", th.Warn
		}
		if x.What == debrief.FirstAct {
			if !x.Reached {
				v, pen = "nothing was changed", th.Plain
			}
			v += ink.Say(", %d pieces of evidence before", d.Evidence)
		}
		rows = append(rows, ink.Pair{Key: ink.Shown(x.What), Value: v, Ink: pen})
	}
	p.Pairs(0, 0, 22, rows)
	p.Head("UNSAFE ATTEMPTS STOPPED")
	for _, s := range d.Stopped {
		p.Item(th.Bad.On("✗ ")+th.Strong.On(ink.Shown(s.Step))+th.Muted.On(ink.Say("  after %s  ", ink.Ago(s.After))), th.Plain, ink.Shown(s.Why))
	}
	if len(d.Stopped) == 0 {
		p.Para(th.Muted, "None: nothing unsafe was tried.")
	}
	if len(d.Hints) > 0 {
		p.Head("ANOTHER WAY")
	}
	for _, h := range d.Hints {
		p.Item(th.Accent.On("→ "), th.Plain, ink.Shown(h))
	}
}

// debriefWon says of a drill whether it is won, by each of its conditions.
func (r *Screen) debriefWon(p *ink.Page, d *debrief.Debriefing) {
	th := p.Theme
	mk := ink.Mark{Symbol: "✗", Word: "NOT WON", Ink: th.Bad}
	switch {
	case !d.Drill.Judged:
		mk = ink.Mark{Symbol: "!", Word: "NOT JUDGED", Ink: th.Warn}
	case d.Drill.Won:
		mk = ink.Mark{Symbol: "✓", Word: "WON", Ink: th.Good}
	}
	p.Add(mk.Ink.On(mk.Symbol+" "+mk.Word) + th.Muted.On(ink.Say("  drill %s", d.Drill.Name)))
	for _, c := range d.Drill.Conditions {
		if c.Holds {
			p.Item("  "+th.Good.On("✓ "), th.Plain, ink.Shown(c.Condition))
			continue
		}
		p.Item("  "+th.Bad.On("✗ "), th.Plain, ink.Shown(c.Condition))
		p.Item(ink.Blank(4), th.Muted, ink.Shown(c.Why))
	}
}

// debriefPath draws the path that was taken, beside that of the reference where
// there is one.
func (r *Screen) debriefPath(env *screen.Env, p *ink.Page, d *debrief.Debriefing) {
	th := p.Theme
	if !d.Compared() {
		p.Head("YOUR PATH")
		for _, l := range d.Legs {
			p.Add(th.Muted.On(ink.Padded(ink.Ago(l.Yours.After), 8)) + "  " + drawStop(env, l.Yours))
		}
		return
	}
	p.Gap()
	w := (p.W - 4) / 2
	p.Add("  " + ink.Fit(th.Muted.On("YOUR PATH"), w) + "  " + th.Muted.On("THE REFERENCE"))
	for _, l := range d.Legs {
		mk := legMark(th, l.Is)
		ref := ink.Drawn("")
		if l.Reference != nil {
			ref = drawStop(env, l.Reference)
		}
		you := ink.Drawn("")
		if l.Yours != nil {
			you = drawStop(env, l.Yours)
		}
		p.Add(mk.Ink.On(mk.Symbol) + " " + ink.Fit(you, w) + "  " + ink.Cut(ref, w))
	}
	p.Add(th.Muted.On("= same  ≠ different  ~ other order  + extra  – left out"))
}

// drawStop is one station of a path.
func drawStop(env *screen.Env, s *debrief.Stop) ink.Drawn {
	th := &env.Theme
	d := th.Muted.On(ink.Padded(ink.Shown(s.Do), 8)) + " " + th.Plain.On(ink.Shown(s.Step))
	if s.Value != "" {
		d += " " + th.Strong.On(ink.Shown(s.Value))
	}
	if s.Times > 1 {
		d += th.Muted.On(ink.Say(" ×%d", s.Times))
	}
	return d
}

// debriefRest says what is owed, what was changed, and where the report is.
func (r *Screen) debriefRest(p *ink.Page, d *debrief.Debriefing) {
	th, s := p.Theme, r.Snap.State
	p.Head("OWED")
	none := true
	for _, d := range s.Debts {
		if d.Settled.How == "carried" {
			none = false
			p.Item(th.Warn.On("! "), th.Plain, ink.Say("%s carries until %s: %s", d.Settled.Owner, d.Settled.Until, d.Text))
		}
	}
	if none {
		p.Para(th.Muted, "No open debts.")
	}
	for _, w := range d.Waivers {
		p.Item(th.Warn.On("– "), th.Plain, ink.Say("%s waived %s: %s", w.Person, w.Of(), w.Why))
	}
	p.Head("CHANGED BY HANDRAIL")
	for _, a := range d.Acts {
		p.Item(th.Strong.On(ink.Shown(a.Step))+"  ", th.Plain, ink.Say("%s. %s", a.Outcome, a.Command))
	}
	if len(d.Acts) == 0 {
		p.Para(th.Muted, "Nothing: no gate acted.")
	}
	p.Head("THE REPORT, AND A CHECK OF YOUR OWN")
	p.Para(th.Plain, ink.Shown(report.Path(r.Snap.Bundle)))
	p.Para(th.Plain, ink.Say("handrail bundle verify %s", r.Snap.Bundle))
	p.Para(th.Muted, ink.Say("%d entries, each chained to the one before it.", s.Seq+1))
}
