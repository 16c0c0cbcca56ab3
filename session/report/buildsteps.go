package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"handrail/evidence/visible"
	"handrail/triage"
)

// touched reports whether anything happened at a step.
func touched(s triage.Step) bool {
	return s.Attempts > 0 || s.Answer != "" || s.Summary != "" || len(s.Facts) > 0 || s.Status == triage.Settled || s.Status == triage.Stale
}

// steps lists what was read, asked and done. Conclusions and gates have sections of their own.
func (b *builder) steps() {
	for _, s := range b.st.Steps {
		if !touched(s) || s.Kind == triage.ConcludeStep || s.Kind == triage.GateStep || s.Kind == triage.NoteStep {
			continue
		}
		out := Step{
			ID: line(s.ID), Title: line(cmp.Or(s.Title, s.ID)), Phase: line(string(s.Phase)), Kind: line(string(s.Kind)), Uses: line(s.Uses),
			Status: line(string(s.Status)), Covers: texts(s.Covers), Attempts: s.Attempts, Started: s.Started.UTC(), Ended: s.Ended.UTC(),
			Entry: s.EndSeq, Summary: line(s.Summary), Command: block(s.Command), Answer: line(s.Answer), How: line(s.How),
			Facts: factsOf(s.Facts), Drawing: drawingOf(s.Facts), Gaps: texts(s.Gaps), Findings: findingsOf(s), Compared: comparedOf(s.Rows),
		}
		out.Artifacts = b.artifactsOf(out.ID)
		b.d.Steps = append(b.d.Steps, out)
	}
}

// drawn are the facts whose lines are a drawing: in one row of a table no one could
// read it.
var drawn = []string{"graph", "chain"}

func drawingOf(m map[string]triage.Value) visible.Text {
	var lines []string
	for _, name := range drawn {
		lines = append(lines, m[name].Strings()...)
	}
	return block(strings.Join(lines, "\n"))
}

func (b *builder) artifactsOf(step visible.Text) []Artifact {
	var out []Artifact
	for _, a := range b.d.Artifacts {
		if a.Step == step {
			out = append(out, a)
		}
	}
	return out
}

func findingsOf(s triage.Step) []Finding {
	var out []Finding
	for _, f := range s.Findings {
		out = append(out, Finding{Level: line(string(f.Level)), Say: line(f.Say), Step: line(s.ID), Entry: s.EndSeq})
	}
	return out
}

func rank(level visible.Text) int {
	return slices.Index([]visible.Text{"info", "warning", "critical"}, level)
}

func (b *builder) findings() {
	for _, s := range b.st.Steps {
		b.d.Findings = append(b.d.Findings, findingsOf(s)...)
	}
	slices.SortStableFunc(b.d.Findings, func(x, y Finding) int { return cmp.Compare(rank(y.Level), rank(x.Level)) })
}

// ruledOut lists what was looked at and is not it: topics that were settled with no, and readings that gave nothing to
// warn of.
func (b *builder) ruledOut() {
	for _, c := range b.d.Conclusions {
		excludes := c.Topic == visible.Text(triage.TopicMutation) || c.Topic == visible.Text(triage.TopicReverts)
		if excludes && c.Value == "no" && !c.Provisional {
			why := c.Why
			if why == "" {
				why = visible.Line(joined(c.Grounds, "; "))
			}
			b.d.RuledOut = append(b.d.RuledOut, Remark{Step: c.Topic, What: visible.Line(c.Question + ": no"), Why: why, Entry: c.Entry})
		}
	}
	for _, s := range b.st.Steps {
		read := s.Kind == triage.ProbeStep && s.Status == triage.Settled && s.Outcome == "ok"
		if read && len(s.Findings)+len(s.Gaps) == 0 {
			b.d.RuledOut = append(b.d.RuledOut, Remark{Step: line(s.ID), What: line(cmp.Or(s.Title, s.ID)), Why: line(s.Summary), Entry: s.EndSeq})
		}
	}
}

func joined(list []visible.Text, sep string) string {
	var out []string
	for _, t := range list {
		out = append(out, string(t))
	}
	return strings.Join(out, sep)
}

// unchecked lists what could not be looked at, with the reason, and what was not looked at. A step that stayed untouched
// counts only where the runbook requires it.
func (b *builder) unchecked() {
	add := func(s triage.Step, what, why string) {
		b.d.Unchecked = append(b.d.Unchecked, Remark{Step: line(s.ID), What: line(what), Why: line(why), Entry: s.EndSeq})
	}
	for _, s := range b.st.Steps {
		name := cmp.Or(s.Title, s.ID)
		switch {
		case s.Status == triage.CannotTell && s.Kind == triage.AskStep:
			add(s, name, cmp.Or(s.How, "unknown to everyone on the call"))
		case s.Status == triage.CannotTell:
			add(s, name, cmp.Or(s.Summary, s.Outcome, "it could not be read"))
		case s.Status == triage.Stale:
			add(s, name, "its target moved after it was read")
		case s.Status == triage.Skipped:
			add(s, name, "skipped: "+cmp.Or(s.How, "no reason is recorded"))
		case s.Status == triage.Waived:
			add(s, name, b.waivedWhy(s.ID))
		case s.Status == triage.Pending && s.Required && !s.Retired:
			add(s, name, "required by the runbook, and not done")
		}
		for _, g := range s.Gaps {
			// A gap often names its field twice: once as its place, once in the sentence.
			if field, rest, ok := strings.Cut(g, ": "); ok && strings.HasPrefix(rest, field) {
				g = rest
			}
			add(s, name, g)
		}
		if s.Status != triage.CannotTell && s.Kind != triage.CompareStep { // its gaps say it by source
			for _, why := range unknownFacts(s) {
				add(s, name, why)
			}
		}
	}
}

// unknownFacts says which facts of a step are unknown, those with the same reason together.
func unknownFacts(s triage.Step) []string {
	names := map[string][]string{}
	var order []string
	for _, f := range factsOf(s.Facts) {
		if f.Known {
			continue
		}
		why := string(f.Value)
		if names[why] == nil {
			order = append(order, why)
		}
		names[why] = append(names[why], string(f.Name))
	}
	for i, why := range order {
		order[i] = strings.Join(names[why], ", ") + " unknown: " + why
	}
	return order
}

func (b *builder) waivedWhy(step string) string {
	for _, w := range b.st.Waivers {
		if w.Subject == step && w.Law != triage.LawNone {
			return fmt.Sprintf("waived by %s: %s", w.Person, w.Why)
		}
	}
	return "waived"
}
