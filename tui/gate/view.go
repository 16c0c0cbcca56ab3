package gate

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/triage/record"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// Roomy is the height above which a gate need not save lines.
const Roomy = 30

// labelWidth is how wide the names at the left of a gate are; a longer one pushes
// its value.
const labelWidth = 13

// shut says that the gate is neither armed nor past its act: why it is not is what it shows.
func (g *Modal) shut() bool { return g.Gate.Phase == triage.GateIdle || g.Gate.Phase == "" }

// Box is the gate in at most most rows. Consequence, target and phrase always
// stand; what is between scrolls.
func (g *Modal) Box(env *screen.Env, most int) ([]ink.Drawn, *tea.Position) {
	th := &env.Theme
	w := min(env.W, 104)
	inner := w - 4
	top := ink.Page{W: inner, Theme: th}
	g.top(env, &top)
	low := ink.Page{W: inner, Theme: th}
	cur := g.low(env, &low)
	mid := ink.Page{W: inner, Theme: th}
	alikeEnds := g.middle(env, &mid)

	h := most - 2
	if fits := max(2, h-len(low.Rows)-min(len(mid.Rows)+1, h/3)); len(top.Rows) > fits {
		// A target that is too long for the screen scrolls, so that what is between can be
		// read by more than a line at a time; the phrase never does. Where the gate is shut,
		// what stands in its way comes first.
		cut := top.Rows[fits:]
		if g.shut() {
			mid.Rows = append(mid.Rows, cut...)
		} else {
			for i := range alikeEnds {
				alikeEnds[i] += len(cut)
			}
			mid.Rows = append(cut[:len(cut):len(cut)], mid.Rows...)
		}
		top.Rows = top.Rows[:fits]
	}
	room := h - len(top.Rows) - len(low.Rows)
	g.page = room
	if most > Roomy {
		room = min(room, len(mid.Rows)+1)
	}
	rows := top.Rows
	if room > 0 {
		all := len(mid.Rows)
		var view []ink.Drawn
		view, g.Off = ink.Window(mid.Rows, g.Off, room)
		if more := all - g.Off - room; more > 0 {
			view[room-1] = g.more(env, more+1, alikeEnds, g.Off+room-1)
		}
		rows = append(rows, view...)
	}
	if cur != nil {
		cur.Y += len(rows) + 1
		cur.X += 2
	}
	rows = append(rows, low.Rows...)
	frame := th.Danger
	if g.Gate.Phase == triage.GateDone && !g.undone(env) {
		frame = th.Good // over: nothing dangerous waits here any more
	}
	return ink.Double(frame, rows, w), cur
}

// middle is what a careful person reads before typing: what stands in the
// way, what would change, what must not be mistaken for it, then the rest. It
// returns the rows on which look-alikes end.
func (g *Modal) middle(env *screen.Env, p *ink.Page) []int {
	th := p.Theme
	pv := g.Gate.Preview
	if env.H > Roomy {
		p.Rows = append(p.Rows, "")
	}
	g.drawLook(env, p)
	g.outcome(env, p)
	g.items(env, p)
	if !g.Armed() {
		g.approvers(env, p)
	}
	if g.why != "" && !g.Reading {
		p.Rows = append(p.Rows, "")
		p.Item(label(th.Warn.On("! CLOSED")), th.Strong, g.closedWhy(env, g.why))
	}
	for _, moved := range g.Gate.Moved {
		p.Item(label(th.Bad.On("✗ MOVED")), th.Plain, ink.Shown(moved))
	}
	g.needs(env, p)
	g.diff(p)
	alikeEnds := g.alike(p)
	g.owners(env, p)
	if _, far := g.target(env); len(far) > 0 {
		p.Gap()
		gateRows(p, th.Strong, far)
	}
	if rest := slices.DeleteFunc(slices.Clone(pv.Shown), alike); len(rest) > 0 && g.Gate.Phase != triage.GateDone {
		p.Gap()
		gateRows(p, th.Plain, rest)
	}
	g.evidence(env, p)
	if g.unread() {
		return alikeEnds
	}
	p.Gap()
	p.Item(label(th.Muted.On("exactly")), th.Plain, ink.Block(pv.Command))
	p.Item(label(th.Muted.On("undo")), th.Plain, ink.Shown(pv.Undo))
	for _, d := range record.Together(pv.Owes) {
		p.Item(label(th.Muted.On("owes")), th.Plain, ink.Shown(d.Text))
	}
	for _, d := range record.Together(pv.Pays) {
		p.Item(label(th.Muted.On("pays")), th.Plain, ink.Shown(d.Text))
	}
	if pv.Request != pv.Command {
		p.Item(label(th.Muted.On("request")), th.Plain, ink.Block(pv.Request))
	}
	g.verdicts(env, p)
	return alikeEnds
}

func (g *Modal) evidence(env *screen.Env, p *ink.Page) {
	th := p.Theme
	if len(g.Gate.Evidence)+len(g.Gate.Waived) > 0 {
		p.Head("BASED ON")
	}
	for _, w := range g.Gate.Waived {
		p.Item(th.Warn.On("! "), th.Plain, ink.Say("%s answers for %s: %s", w.Person, w.Subject, w.Why))
	}
	wide := 0
	for _, e := range g.Gate.Evidence {
		wide = max(wide, min(16, ink.Cells(ink.Drawn(incident.Short(e.Step)))))
	}
	for _, e := range g.Gate.Evidence {
		age := "  " + th.Muted.On(ink.Ago(env.Now.Sub(e.At))+" old")
		lead := th.Good.On("✓ ") + ink.Fit(th.Muted.On(incident.Short(e.Step)), max(wide, 7)) + "  "
		p.Add(ink.Spread(lead+th.Plain.On(ink.Shown(e.Text))+" ", age, p.W))
	}
}

func (g *Modal) verdicts(env *screen.Env, p *ink.Page) {
	th := p.Theme
	if len(g.Gate.Verdicts) > 0 {
		p.Head("RUNBOOK CONDITIONS")
	}
	for _, v := range g.Gate.Verdicts {
		mk := ink.Mark{Symbol: "✓", Word: "true", Ink: th.Good}
		if v.Result != "true" {
			mk = ink.Mark{Symbol: "✗", Word: ink.Shown(v.Result), Ink: th.Warn}
		}
		p.Item(mk.Ink.On(mk.Symbol+" "+mk.Word)+"  ", th.Muted, g.verdict(env, v))
	}
}

// verdict is what a condition came to, or what it asks where it holds.
func (g *Modal) verdict(env *screen.Env, v triage.Verdict) ink.Text {
	if v.Why != "" {
		return env.InWords(g.Step, v.Why)
	}
	return env.Condition(g.Step, v.Expr)
}

func (g *Modal) outcome(env *screen.Env, p *ink.Page) {
	th := p.Theme
	if run, ok := env.Running(g.Step); ok {
		incident.DrawLive(p, env.Now, run)
	}
	after := g.Gate.After
	if now := env.Snap.State.Gates[g.Step]; now.Phase == triage.GateDone {
		if len(now.Again.After) > 0 {
			after = nil
			for _, kv := range now.Again.After {
				after = append(after, steps.KV(kv))
			}
		}
	}
	if len(after) > 0 {
		p.Head("THE TARGET NOW")
		gateRows(p, th.Plain, after)
		p.Gap()
	}
}

// result says how an act ended, and what stood of it when its target was read again.
func (g *Modal) result(env *screen.Env, p *ink.Page) {
	if g.Gate.Response != "" && !g.Armed() { // else it is of the act before
		p.Folded(label(p.Theme.Muted.On("RESULT")), p.Theme.Strong, ink.Block(g.Gate.Response), g.lines(), ink.Shown(env.Keys.View.Help().Key))
	}
	if now := env.Snap.State.Gates[g.Step]; now.Phase == triage.GateDone {
		incident.DrawAgain(p, env.Snap.State, now)
	}
}

// low is the phrase, the line to type it on, and the keys.
func (g *Modal) low(env *screen.Env, p *ink.Page) *tea.Position {
	th := p.Theme
	var cur *tea.Position
	p.Add(th.Faint.On(ink.Line("─", p.W)))
	if n := g.Noted; n.Text != "" {
		p.Item("", th.Plain, n.Text)
	}
	switch {
	case g.Said.Text != "":
		k := th.Level(cmp.Or(g.Said.Level, "warning"))
		p.Item(k.Ink.On(k.Symbol)+" ", th.Plain, g.Said.Text)
	case len(g.refused) > 0 && g.Armed() && !g.blocked():
		r := g.refused[0]
		p.Folded(th.Bad.On("✗ Nothing was changed. "), th.Strong, env.InWords(g.Step, r.Why), 2, ink.Shown(env.Keys.View.Help().Key))
		if cure := env.Cure(g.Step, r.Why, r.Cure); cure != "" {
			p.Folded("  "+th.Muted.On("→ esc, then: "), th.Plain, cure, 2, ink.Shown(env.Keys.View.Help().Key))
		}
	case g.Gate.Wrong > 0 && g.Armed():
		p.Item(th.Warn.On("! "), th.Strong, g.wrongPhrase())
	}
	keys := []ink.Hint{{Key: "enter", Does: "back"}, {Key: ink.Shown(env.Keys.Reload.Help().Key), Does: "read it again"}, {Key: "esc", Does: "back"}}
	if g.looks {
		keys = g.lookKeys(env)
	}
	if n := len(g.goes(env)); n > 0 {
		keys = append(keys, ink.Hint{Key: keymap.Digits(n), Does: "go to what it needs"})
	}
	if g.Armed() {
		g.approvers(env, p)
	}
	switch {
	case g.blocked():
		p.Item(th.Warn.On("! "), th.Strong, "The phrase is not taken yet: an owner may undo this. Pause it, or answer for it by name.")
		keys = []ink.Hint{{Key: "enter", Does: "answer for the owner"}, {Key: "esc", Does: "disarm, nothing changes"}, {Key: "pgdn", Does: "more"}}
	case g.waits(env):
		cur, keys = g.waiting(env, p)
	case g.Sent:
		p.Add(th.Strong.On("Reading the target again; acting if nothing moved …"))
		keys = []ink.Hint{{Key: "esc", Does: "leave this view; the act continues"}}
	case g.Armed():
		p.Item(th.Muted.On("type     "), th.Strong, ink.Shown(g.Gate.Preview.Phrase))
		row, at := g.Edit.Draw(th.Strong, p.W-9)
		p.Add(th.Danger.On("phrase ▸ ") + row)
		cur = &tea.Position{X: 9 + at, Y: len(p.Rows) - 1}
		if g.Edit.Pasted {
			p.Add(th.Muted.On("         pasted, and recorded as pasted"))
		}
		keys = []ink.Hint{{Key: "enter", Does: "only with the phrase"}, {Key: "esc", Does: "disarm, nothing changes"}, {Key: "pgdn", Does: "more"}}
		if k := env.Keys.NoteKey(); k != "" {
			keys = slices.Insert(keys, 2, ink.Hint{Key: k, Does: "note"})
		}
	case env.Replaying():
		if g.Edit.Value() != "" {
			p.Item(th.Muted.On("typed    "), th.Strong, ink.Shown(g.Edit.Value()))
		}
	case env.Acting():
		keys = []ink.Hint{{Key: "i", Does: "interrupt"}, {Key: ink.Shown(env.Keys.View.Help().Key), Does: "what it prints"}, {Key: "enter", Does: "back; the act continues"}}
	case g.Gate.Phase == triage.GateDone:
		keys = []ink.Hint{{Key: "enter", Does: "go on"}}
	}
	if env.Replaying() {
		return nil // what was typed then; the keys are below
	}
	p.Add(th.Footer(p.W, keys))
	return cur
}

// wrongPhrase passes on where the incident saw a difference.
func (g *Modal) wrongPhrase() ink.Text {
	left := view.Tries - g.Gate.Wrong
	unit := "tries"
	if left == 1 {
		unit = "try"
	}
	return ink.Say("The phrase differs at character %d. %d %s left, then the gate closes.", g.Gate.WrongAt, left, unit)
}
