package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"handrail/evidence/visible"
	"handrail/triage"
)

// The first part of the page, for those who were not on the call.

// impact is what it hit: what failed, where, how bad, for how long, and what was found.
func (p *page) impact(d Document) {
	p.section("Impact")
	p.item("what failed", d.Title)
	p.item("where", visible.Line(d.Place.words()))
	p.item("severity", d.Severity)
	for _, m := range d.Timeline {
		if m.Type == visible.Text((triage.SeveritySet{}).Type()) {
			p.item(visible.Line(timeOf(m.At)+"Z"), m.Text)
		}
	}
	p.item("for", visible.Line(fmt.Sprintf("%s, %s to %s", d.Took, stamp(d.Opened), stamp(latest(d)))))
	for _, c := range d.Conclusions {
		if c.Topic == visible.Text(triage.TopicClass) && c.Value != triage.Unknown {
			p.item("class of the failure", c.Value)
		}
	}
	for _, f := range d.Findings {
		if f.Level == "critical" {
			p.item("found", f.Say)
		}
	}
}

// outcome is how it ended, by what proof, and what is left.
func (p *page) outcome(d Document) {
	p.section("Outcome")
	if d.Outcome == "" {
		p.text("**Still open, in phase %s.**", d.Phase)
	}
	for _, m := range d.Timeline {
		if m.Type == visible.Text((triage.Close{}).Type()) {
			p.text("**%s**, %s by %s.", m.Text, visible.Line(timeOf(m.At)+"Z"), m.Actor)
		}
	}
	p.gap()
	for _, s := range d.Steps {
		if s.Phase == visible.Text(triage.Verify) {
			p.add(ItemBlock, spans("%s: %s", s.Title, cmp.Or(s.Answer, s.Summary, s.Status))...)
		}
	}
	p.debts(d)
	p.followUps(d)
}

// user is as which user of the system an act was done.
func (g Gate) user() string {
	return cmp.Or(string(g.As), "a user that the journal does not tell")
}

// done lists what was changed and by whom, then what stayed shut.
func (p *page) done(d Document) {
	p.section("What was done, and by whom")
	acts := 0
	for _, g := range d.Gates {
		if g.ActedAt.IsZero() {
			continue
		}
		acts++
		p.add(ItemBlock, spans("**%s: %s** at %s by %s, as %s: %s", g.Title, g.Phase, visible.Line(timeOf(g.ActedAt)+"Z"), g.Actor, visible.Line(g.user()), g.Effect)...)
		for _, it := range g.Items {
			p.add(ItemBlock, spans("%s: **%s**: %s", it.Object, it.Outcome, it.Response)...)
		}
		for _, a := range g.Approvals {
			p.add(ItemBlock, spans("%s was approved by %s", g.Title, a)...)
		}
		if g.Again != "" {
			p.add(ItemBlock, spans("%s was read again: %s", g.Title, g.Again)...)
		}
	}
	if acts == 0 {
		p.text("Nothing was changed through handrail.")
		p.gap()
	}
	for _, h := range d.ByHand {
		p.add(ItemBlock, spans("**%s: by hand, outside handrail** at %s by %s, recorded by %s: %s. %s", h.Object, visible.Line(timeOf(h.At)+"Z"), h.Person, h.Actor, h.What, h.proof())...)
	}
	by := map[int64]visible.Text{}
	for _, m := range d.Timeline {
		by[m.Entry] = m.Actor
	}
	for _, s := range d.Steps {
		if s.Kind == visible.Text(triage.ManualStep) && s.Status == visible.Text(triage.Settled) {
			p.add(ItemBlock, spans("%s: outside handrail, recorded by %s: %s", s.Title, by[s.Entry], s.Summary)...)
		}
	}
	for _, g := range d.Gates {
		if g.ActedAt.IsZero() {
			p.add(ItemBlock, spans("%s: %s, and nothing was done. %s", g.Title, g.Phase, g.closed())...)
		}
	}
}

// closed says why a gate was closed, and whether a person had asked for it.
func (g Gate) closed() visible.Text {
	if !g.ByItself {
		return g.Why
	}
	return visible.Line("Its preview began by itself: " + string(g.Why))
}

// proof says what shows a repair by hand.
func (h ByHand) proof() visible.Text {
	if h.Shown == "" {
		return visible.Line("NOT SHOWN: " + string(h.Proof) + " owes it")
	}
	return visible.Line("Shown by " + string(h.Proof) + ": " + string(h.Shown))
}

// story is the timeline as people would tell it: what began and what moved the loop is
// left to the appendix, and looks that saw the same are one.
func (p *page) story(d Document) {
	p.section("Timeline")
	titles := map[visible.Text]visible.Text{}
	for _, s := range d.Steps {
		titles[s.ID] = s.Title
	}
	for _, g := range d.Gates {
		titles[g.Step] = g.Title
	}
	for _, r := range d.Unchecked {
		titles[r.Step] = cmp.Or(titles[r.Step], r.What)
	}
	day, last, times := "", visible.Text(""), 1
	for _, m := range d.Timeline {
		what := m.told(titles)
		if what == "" {
			continue
		}
		if m.Type == "probe.end" && what == last {
			times++
			p.blocks[len(p.blocks)-1].Spans = append(spans("%s ", timeOf(m.At)), spans("%s: %s (%d times)", m.Actor, what, times)...)
			continue
		}
		last, times = what, 1
		if now := m.At.UTC().Format(time.DateOnly); now != day && !m.At.IsZero() {
			if day != "" {
				p.gap()
			}
			p.text("**%s**, UTC", visible.Text(now))
			p.gap()
			day = now
		}
		p.add(ItemBlock, append(spans("%s ", timeOf(m.At)), spans("%s: %s", m.Actor, what)...)...)
	}
}

func timeOf(t time.Time) string { return t.UTC().Format("15:04:05") }

// told is a moment for the story, "" for one that only moves the loop.
func (m Moment) told(titles map[visible.Text]visible.Text) visible.Text {
	switch m.Type {
	case "probe.start", "phase", "gate.answered", "debt":
		return ""
	}
	text := string(m.Text)
	if topic, rest, ok := strings.Cut(text, " is "); ok && m.Type == "conclude" && questions[triage.Topic(topic)] != "" {
		return visible.Line("decided: " + questions[triage.Topic(topic)] + ": " + rest)
	}
	if title := titles[m.Step]; title != "" {
		rest, ok := strings.CutPrefix(text, string(m.Step)+" ")
		if after, read := strings.CutPrefix(rest, "ok"); ok && read && m.Type == "probe.end" {
			rest = cmp.Or(strings.TrimPrefix(after, ": "), "read")
			text = string(title) + ": " + rest
		} else if ok {
			text = string(title) + " " + rest
		}
	}
	if m.Level == "critical" && m.Type == "probe.end" {
		text = "CRITICAL: " + text
	}
	return visible.Line(text)
}
