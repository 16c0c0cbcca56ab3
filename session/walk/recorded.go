package walk

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"handrail/session/journal"
	"handrail/triage"
)

// Recorded is what people said and typed in an incident, as an answers file for the
// runbook in force: a run of it does the same as long as it finds the same. What a
// script cannot say (a provisional conclusion, the approval of a second person)
// stands in a comment. A phrase names its target, so it opens no gate of another.
func Recorded(st triage.State) string {
	s := &sheet{}
	plan := st.Plan()
	s.comment("", fmt.Sprintf("What was said and typed in %s: %s.", st.Incident, folded(st.Title)))
	if len(st.Plans) > 1 {
		var ids []string
		for _, p := range st.Plans {
			ids = append(ids, p.Runbook)
		}
		if ids = slices.Compact(ids); len(ids) > 1 { // parameters that changed are no other runbook
			s.comment("", fmt.Sprintf("It went through %s; this is its last part, since a file answers one runbook.", strings.Join(ids, ", ")))
		}
	}
	s.comment("", "A gate takes the phrase of its target alone. Read it before you run it again.")
	s.head(plan.Runbook)
	rec := recorder{st: st, plan: plan}
	s.section("params", "", rec.params())
	s.section("people", "", rec.people())
	s.section("severity", "", rec.severity())
	s.section("notes", "", rec.notes())
	s.section("answers", "", rec.steps(triage.AskStep))
	s.section("manual", "", rec.steps(triage.ManualStep))
	s.section("conclude", "", rec.topics())
	s.section("skip", "", rec.skips())
	s.section("waive", "", rec.waivers())
	s.section("gates", "", rec.gates())
	s.section("findings", "", rec.findings())
	s.section("difference", "", rec.difference())
	s.section("by_hand", "", rec.byHand())
	s.section("debts", "", rec.debts())
	return s.String()
}

type recorder struct {
	st   triage.State
	plan triage.Plan
}

func (r recorder) params() []entry {
	var out []entry
	for _, p := range sorted(r.plan.Params) {
		if v := r.plan.Params[p]; v.Known() && v.Text() != "" {
			out = append(out, entry{line: named(p) + ": " + quoted(v.Text()), live: true})
		}
	}
	return out
}

// people are those who were named: who was at the keyboard is known of the next one.
func (r recorder) people() []entry {
	var out []entry
	for _, p := range r.st.People {
		if p.Proof != "claimed" {
			continue
		}
		roles := ""
		if len(p.Roles) > 0 {
			var list []string
			for _, x := range p.Roles {
				list = append(list, quoted(x))
			}
			roles = "roles: [" + strings.Join(list, ", ") + "]"
		}
		out = append(out, entry{line: "- " + braced(pair("name", p.Name), roles), live: true})
	}
	return out
}

// severity is the newest that was set, with its reason.
func (r recorder) severity() []entry {
	for _, m := range slices.Backward(r.st.Timeline) {
		if m.Type != (triage.SeveritySet{}).Type() {
			continue
		}
		_, why, _ := strings.Cut(m.Text, ": ")
		return []entry{{line: "level: " + named(string(r.st.Severity)), live: true}, {line: "why: " + quoted(or(why, r.entry(m.Seq))), live: true}}
	}
	return nil
}

// notes are those up to the close: a walk records none after it.
func (r recorder) notes() []entry {
	var out []entry
	for _, m := range r.st.Timeline {
		if m.Type == (triage.Close{}).Type() {
			break
		}
		if m.Type == (triage.Note{}).Type() && m.Actor != "system" {
			out = append(out, entry{line: "- " + quoted(m.Text), live: true})
		}
	}
	return out
}

// steps lists the answers or the proofs of the plan in force.
func (r recorder) steps(kind triage.StepKind) []entry {
	var out []entry
	for _, st := range r.st.Steps {
		if st.Kind != kind || !r.mine(st) || st.Status == triage.Skipped {
			continue
		}
		id := named(journal.Bare(st.ID))
		switch {
		case kind == triage.ManualStep && st.Summary != "":
			out = append(out, entry{line: id + ": " + quoted(st.Summary), live: true})
		case kind == triage.AskStep && st.Answer != "" && !(st.Script && st.How == noAnswer):
			out = append(out, entry{line: id + ": " + braced(pair("value", st.Answer), pair("how", or(st.How, r.entry(st.EndSeq)))), live: true})
		}
	}
	return out
}

func (r recorder) topics() []entry {
	var out []entry
	for _, topic := range sorted(r.st.Topics) {
		c := r.st.Topics[topic]
		said := named(string(topic)) + ": " + braced(pair("value", c.Value), pair("why", or(c.Why, r.entry(c.Seq))), pair("person", c.Person))
		switch {
		case c.Lapsed, c.Script && c.Value == triage.Unknown && strings.HasPrefix(c.Why, factsPropose):
			continue
		case c.Provisional:
			out = append(out, entry{about: []string{"This was provisional, which a script cannot say."}, line: said})
			continue
		case c.Value != triage.Unknown && c.Value == c.Proposed && c.Why == "" && c.Person == "":
			said = named(string(topic)) + ": " + accept
		}
		out = append(out, entry{line: said, live: true})
	}
	return out
}

// skips leaves out what the parameters rule out and what the walk passes by itself.
func (r recorder) skips() []entry {
	var out []entry
	for _, st := range r.st.Steps {
		own := strings.HasPrefix(st.How, notApplying) || strings.HasPrefix(st.How, "does not apply: ") || st.How == notSettled
		if r.mine(st) && st.Status == triage.Skipped && !own {
			out = append(out, entry{line: named(journal.Bare(st.ID)) + ": " + quoted(st.How), live: true})
		}
	}
	return out
}

func (r recorder) waivers() []entry {
	var out []entry
	for _, w := range r.st.Waivers {
		subject := w.Subject
		if journal.BookOf(subject) == r.plan.Runbook {
			subject = journal.Bare(subject)
		}
		rest := []string{pair("subject", subject), pair("person", w.Person), pair("why", w.Why)}
		if w.Law != triage.LawNone {
			out = append(out, entry{line: "- " + braced(append([]string{"law: " + strconv.Itoa(w.Law)}, rest...)...), live: true})
		}
		for _, f := range w.Findings {
			out = append(out, entry{line: "- " + braced(append([]string{pair("finding", f)}, rest...)...), live: len(f) >= leastQuote})
		}
	}
	return out
}

// gates are those that acted.
func (r recorder) gates() []entry {
	var out []entry
	for _, st := range r.st.Steps {
		g := r.st.Gates[st.ID]
		if !r.mine(st) || g.StartSeq == 0 {
			continue
		}
		e := entry{line: named(journal.Bare(st.ID)) + ": " + braced(pair("phrase", g.Shown.Phrase), pair("why", g.Shown.Why)), live: true}
		for _, a := range g.Approvals {
			e.about = append(e.about, "Approved by "+a.Person+": name the file of the next approval with approval.")
		}
		out = append(out, e)
	}
	return out
}

// difference is what a person said of the difference, the newest of each question.
func (r recorder) difference() []entry {
	newest := map[string]string{}
	for _, said := range r.st.Drift {
		for _, kv := range said.Answers {
			newest[kv.Key] = kv.Value
		}
	}
	var out []entry
	for _, id := range sorted(newest) {
		out = append(out, entry{line: named(id) + ": " + quoted(newest[id]), live: true})
	}
	return out
}

// findings are the answers to what steps of the plan in force found.
func (r recorder) findings() []entry {
	var out []entry
	for _, a := range r.st.Answered {
		st, ok := r.st.Step(a.Step)
		if !ok || !r.mine(st) {
			continue
		}
		rest := []string{pair("resolved", a.Why)}
		if a.How == triage.Taken {
			rest = []string{pair("taken", a.Person), pair("why", a.Why)}
		}
		out = append(out, entry{line: "- " + braced(append([]string{pair("finding", a.Finding), pair("subject", journal.Bare(a.Step))}, rest...)...), live: len(a.Finding) >= leastQuote})
	}
	return out
}

// byHand are the repairs outside of handrail whose proof the plan in force reads.
func (r recorder) byHand() []entry {
	var out []entry
	for _, h := range r.st.Hands {
		if st, ok := r.st.Step(h.Proof); ok && r.mine(st) {
			out = append(out, entry{line: "- " + braced(pair("what", h.What), pair("object", h.Object), pair("person", h.Person), pair("proof", journal.Bare(h.Proof)), pair("shows", h.Shows)), live: true})
		}
	}
	return out
}

func (r recorder) debts() []entry {
	var out []entry
	for _, d := range r.st.Debts {
		s := d.Settled
		how := ""
		switch s.How {
		case "paid":
			how = "paid: " + braced(pair("proof", s.Proof))
		case "carried":
			how = "carry: " + braced(pair("owner", s.Owner), pair("until", s.Until), pair("why", s.Why))
		case "waived":
			how = "waive: " + braced(pair("person", s.Person), pair("why", s.Why))
		default:
			continue
		}
		out = append(out, entry{line: named(d.ID) + ": {" + how + "}", live: true})
	}
	return out
}

// mine reports whether a step is of the plan that the file answers.
func (r recorder) mine(st triage.Step) bool {
	return !st.Retired && journal.BookOf(st.ID) == r.plan.Runbook
}

// entry stands for a reason that the record does not have.
func (r recorder) entry(seq int64) string {
	return fmt.Sprintf("as recorded in entry %d of %s", seq, r.st.Incident)
}

func or(text, instead string) string {
	if strings.TrimSpace(text) == "" {
		return instead
	}
	return text
}

// sorted are the keys of a map in their order.
func sorted[K ~string, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
