package report

import (
	"cmp"
	"fmt"
	"strings"

	"handrail/evidence/visible"
	"handrail/triage"
)

func (p *page) head(d Document) {
	p.add(TitleBlock, spans("%s", d.Title)...)
	p.gap()
	if d.Drill != "" {
		p.text("**This was a drill: %s.**", d.Drill)
		p.gap()
	}
	stands := "**%s**"
	outcome := visible.Line(outcomes(string(d.Outcome)))
	if d.Outcome == "" {
		stands, outcome = "**still open, in phase %s**", d.Phase
	}
	p.text(stands+", severity %s, %s from %s to %s.", outcome, d.Severity, d.Took, stamp(d.Opened), stamp(latest(d)))
	p.gap()
	for _, l := range d.Brief[min(1, len(d.Brief)):] {
		p.add(ItemBlock, spans("**%s:** %s", l.Label, l.Text)...)
	}
}

// appendix opens the record behind the page.
func (p *page) appendix(d Document) {
	p.section("Appendix")
	p.table("", "")
	p.row("incident", d.Incident)
	for _, r := range d.Runbooks {
		p.row("runbook", visible.Line(fmt.Sprintf("%s: %s (digest %.12s)", r.ID, r.Title, r.Digest)))
		for _, f := range r.Params {
			p.row(visible.Line("parameter "+f.Name.String()), f.Value)
		}
	}
	p.row("newest entry", visible.Line(fmt.Sprintf("%d, %s", d.Entry, stamp(d.Updated))))
}

func (p *page) people(d Document) {
	p.section("On the call")
	if len(d.People) == 0 {
		p.text("No one is recorded.")
		return
	}
	p.table("who", "known as", "proven by", "roles", "since")
	for _, x := range d.People {
		p.row(x.Name, x.Subject, x.Proof, x.Roles, visible.Line(stamp(x.Since)))
	}
}

func (p *page) legs(d Document) {
	p.section("The path through the loop")
	p.table("phase", "entered", "stayed", "entry", "why")
	for _, l := range d.Legs {
		why := l.Why
		if l.Back {
			why = visible.Line(strings.TrimSuffix("went back: "+string(l.Why), ": "))
		}
		p.row(l.Phase, visible.Line(stamp(l.From)), visible.Line(l.Took), number(l.Entry), why)
	}
}

func number(n int64) visible.Text { return visible.Line(fmt.Sprint(n)) }

// decisions are the conclusions and the answers, each with who said so and what it
// stands on, then the laws that were set aside.
func (p *page) decisions(d Document) {
	p.section("Decisions and their evidence")
	p.conclusions(d)
	p.answers(d)
	p.acts(d)
	p.answered(d)
	p.waivers(d)
	p.doctrine(d)
}

// acts are the gates that were opened, each with what it stood on.
func (p *page) acts(d Document) {
	begun := false
	for _, g := range d.Gates {
		if g.ActedAt.IsZero() {
			continue
		}
		if !begun {
			begun = true
			p.gap()
			p.table("act", "outcome", "by", "on what evidence", "entries")
		}
		var on, entries []string
		for _, r := range g.Grounds {
			on, entries = append(on, string(r.What)+": "+string(r.Why)), append(entries, fmt.Sprint(r.Entry))
		}
		p.row(g.Title, g.Phase, g.Actor, visible.Line(strings.Join(on, "; ")), visible.Line(strings.Join(entries, " ")))
	}
}

func (p *page) conclusions(d Document) {
	if len(d.Conclusions) == 0 {
		p.text("Nothing is concluded yet.")
		return
	}
	p.table("question", "answer", "by", "why, and on what evidence", "entry")
	for _, c := range d.Conclusions {
		value, why := string(c.Value), string(c.Why)
		if c.Provisional {
			value += " (provisional)"
		}
		if c.Proposed != "" && c.Proposed != c.Value {
			value += " (the rules propose " + string(c.Proposed) + ")"
		}
		if c.Person != "" {
			why = "says " + string(c.Person) + ": " + why
		}
		if len(c.Grounds) > 0 {
			why += "; " + joined(c.Grounds, "; ")
		}
		if c.Contradicts != "" {
			why += "; the decision matrix says: " + string(c.Contradicts)
		}
		p.row(visible.Line(cmp.Or(c.Question, string(c.Topic))), visible.Line(value), c.Actor, visible.Line(strings.TrimPrefix(why, "; ")), number(c.Entry))
	}
}

// answers are what people said in answer to a question.
func (p *page) answers(d Document) {
	by := map[int64]visible.Text{}
	for _, m := range d.Timeline {
		by[m.Entry] = m.Actor
	}
	begun := false
	for _, s := range d.Steps {
		if s.Answer == "" {
			continue
		}
		if !begun {
			begun = true
			p.gap()
			p.table("question", "answer", "by", "how it is known", "entry")
		}
		p.row(s.Title, s.Answer, by[s.Entry], s.How, number(s.Entry))
	}
}

func (p *page) findings(d Document) {
	p.section("Findings")
	if len(d.Findings) == 0 {
		p.text("No step had a finding.")
		return
	}
	p.table("level", "finding", "step", "entry")
	for _, f := range d.Findings {
		p.row(f.Level, f.Say, f.Step, number(f.Entry))
	}
}

// answered are the answers that critical findings got before the close.
func (p *page) answered(d Document) {
	if len(d.Answered) == 0 {
		return
	}
	p.gap()
	p.table("finding", "answer", "step", "entry")
	for _, r := range d.Answered {
		p.row(r.What, r.Why, r.Step, number(r.Entry))
	}
}

func (p *page) remarks(title, none string, list []Remark) {
	p.section(title)
	if len(list) == 0 {
		p.text(none)
		return
	}
	p.table("what", "why", "step", "entry")
	for _, r := range list {
		entry := number(r.Entry)
		if r.Entry == 0 {
			entry = ""
		}
		p.row(r.What, r.Why, r.Step, entry)
	}
}

func (p *page) debts(d Document) {
	if len(d.Debts) == 0 {
		return
	}
	p.gap()
	p.heading("Debts")
	p.table("debt", "what is owed", "settled", "by", "until", "proof or reason", "entry")
	for _, x := range d.Debts {
		until := x.Until
		if until == "" && !x.Due.IsZero() {
			until = visible.Line("due " + stamp(x.Due))
		}
		p.row(x.ID, x.Text, cmp.Or(x.How, "OPEN"), x.By, until, x.Why, number(x.Entry))
	}
}

func (p *page) waivers(d Document) {
	if len(d.Waivers) == 0 {
		return
	}
	p.gap()
	p.heading("Waivers")
	p.table("law", "subject", "waived by", "why", "recorded by", "at", "entry")
	for _, w := range d.Waivers {
		p.row(w.law(), w.Subject, w.Person, w.Why, w.Actor, visible.Line(stamp(w.At)), number(w.Entry))
	}
}

// law is what was set aside: a law by its number, or what a step found.
func (w Waiver) law() visible.Text {
	if w.Law != triage.LawNone {
		return number(int64(w.Law))
	}
	out := visible.Text("found")
	for i, f := range w.Findings {
		out += map[bool]visible.Text{true: ": ", false: "; "}[i == 0] + f
	}
	return out
}

func (p *page) followUps(d Document) {
	if len(d.FollowUps) == 0 {
		return
	}
	p.gap()
	p.heading("Follow-ups")
	for _, f := range d.FollowUps {
		what := spans("%s (%s)", f.What, f.From)
		if f.Who != "" {
			what = append(what, spans(" — %s", f.Who)...)
		}
		if f.Until != "" {
			what = append(what, spans(", until %s", f.Until)...)
		}
		p.add(TaskBlock, what...)
	}
}

func (p *page) coverage(d Document) {
	p.section("Coverage of the evidence")
	p.text("%s.", d.Covered)
	p.gap()
	p.table("item", "what", "state", "by", "why", "entry")
	for _, c := range d.Coverage {
		entry := number(c.Entry)
		if c.Entry == 0 {
			entry = ""
		}
		p.row(c.Code, c.Item, visible.Line(c.State), c.Steps, c.Why, entry)
	}
}

func (p *page) handled(d Document) {
	if len(d.Handled) == 0 && d.HandledSay == "" {
		return
	}
	p.section("Handled")
	p.text("What was done with the bundle, by the log beside it, which is no proof. %s", d.HandledSay)
	p.gap()
	p.table("at", "who", "what", "where", "result", "entries")
	for _, h := range d.Handled {
		result := h.Result
		if !h.Fits {
			result = visible.Line(string(result) + " (of a journal that is not this one)")
		}
		p.row(visible.Line(stamp(h.At)), h.Actor, visible.Line(strings.TrimSpace(string(h.What)+" "+string(h.Form))), h.Place, result, number(h.Entries))
	}
}

func (p *page) timeline(d Document) {
	p.section("Every entry")
	p.table("entry", "at", "who", "what")
	for _, m := range d.Timeline {
		what := m.Text
		if m.Level == "critical" || m.Level == "warning" {
			what = visible.Line(strings.ToUpper(string(m.Level)) + ": " + string(m.Text))
		}
		p.row(number(m.Entry), visible.Line(stamp(m.At)), m.Actor, what)
	}
}
