package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"handrail/evidence/visible"
	"handrail/triage"
)

// coverage says of each item of evidence, and then of each required capture, how it stands.
func (b *builder) coverage() {
	list := triage.Coverage(b.st)
	b.d.Covered = line(triage.CoverageLine(list))
	for _, c := range list {
		why := c.Why
		if c.Standing == triage.Forgone {
			why = "waived by " + cmp.Or(c.Who, "an unnamed person") + ": " + c.Why
		}
		b.d.Coverage = append(b.d.Coverage, Coverage{
			Code: line(c.Item), Item: line(c.Means), State: string(c.Standing), Steps: line(c.Step), Why: line(why), Entry: c.Seq,
		})
	}
}

// doctrine says what the decision matrix prefers and why it was departed from, what shows the
// recovery, what is known of the difference where the record was written, and what a change
// happened without.
func (b *builder) doctrine() {
	plan := b.st.Plan()
	if row, ok := b.st.Preferred(); ok {
		b.d.Matrix, b.d.Departs = line(triage.Advice{Row: row}.Line()), line(plan.Departs)
	}
	if lack := triage.Unproven(b.st); len(lack) > 0 {
		b.d.Unproven = line(triage.UnprovenLine(lack))
	}
	if slices.ContainsFunc(plan.Steps, func(p triage.PlanStep) bool { return slices.Contains(triage.RecordKinds(), p.Uses) }) {
		for _, x := range b.st.Drifted() {
			b.d.Difference = append(b.d.Difference, Remark{What: line(x.Ask), Why: line(cmp.Or(x.Answer, "nothing answers it")), Step: line(x.From)})
		}
	}
	if len(plan.Proves) == 0 {
		return
	}
	for _, c := range triage.Conditions(b.st) {
		out := PostShown{Code: c.Code, Means: c.Means, State: string(c.Shown)}
		for _, by := range c.By {
			out.By = append(out.By, ShownProof{Step: line(by.Step), What: line(by.What), State: string(by.Shown), Who: line(by.Who), Why: line(by.Why), Entry: by.Seq})
		}
		b.d.Conditions = append(b.d.Conditions, out)
	}
}

// doctrine puts it on the page.
func (p *page) doctrine(d Document) {
	if d.Matrix != "" {
		p.gap()
		p.text("**Decision matrix**, %s.", d.Matrix)
		if d.Departs != "" {
			p.text("The runbook goes another way: %s", d.Departs)
		}
	}
	if d.Unproven != "" {
		p.gap()
		p.text("**The evidence is incomplete**: something changed without %s.", d.Unproven)
	}
	if len(d.Difference) > 0 {
		p.gap()
		p.table("before the record is written", "answer", "known by")
		for _, r := range d.Difference {
			p.row(r.What, r.Why, r.Step)
		}
	}
	if len(d.Conditions) == 0 {
		return
	}
	p.gap()
	p.table("post-condition", "stands", "by what", "entries")
	for _, c := range d.Conditions {
		var by, entries []string
		for _, x := range c.By {
			text := strings.TrimSpace(string(x.Step) + " " + string(x.What))
			if x.Who != "" && x.State == string(triage.PCAccepted) {
				text += ", accepted by " + string(x.Who)
			}
			if x.State != string(triage.PCShown) && x.Why != "" {
				text += ": " + string(x.Why)
			}
			by = append(by, text)
			if x.Entry > 0 {
				entries = append(entries, fmt.Sprint(x.Entry))
			}
		}
		p.row(visible.Line(c.Code+" "+c.Means), visible.Line(c.State), visible.Line(strings.Join(by, "; ")), visible.Line(strings.Join(entries, " ")))
	}
}
