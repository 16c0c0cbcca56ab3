package walk

import (
	"fmt"
	"slices"
	"strings"

	"handrail/runbooks"
	"handrail/session/view"
	"handrail/triage"
)

// Template is an answers file for a runbook that is still to be filled in: every
// parameter, question, task, topic and gate, with choices and defaults as comments.
// What the runbook requires is empty, and a file with it is refused until it is filled
// in; all else stands behind a #. It accepts nothing and opens no gate by itself.
// params are those that are known already.
func Template(rb *runbooks.Runbook, params map[string]string) string {
	s := &sheet{}
	s.comment("", fmt.Sprintf(`Answers for %s: %s.

handrail run %s --answers FILE

Fill in what is empty: it is required. What stands behind a # may stay there; take
the # away, from the name of its section too, to say it. A question that is left out
is unknown, a topic that is left out is not concluded, a gate that is left out stays
shut. What is required and cannot be had is deleted where it stands and waived below.
How an answer is known, and why a conclusion differs from what the facts propose, is
recorded.`, rb.ID, rb.Title, rb.ID))
	s.head(rb.ID)
	s.params(rb, params)
	s.steps(rb, triage.AskStep, "answers", "Questions: a value, and how it is known.")
	s.steps(rb, triage.ManualStep, "manual", "Tasks outside handrail: the proof, so that others can check it.")
	s.topics(rb)
	s.gates(rb)
	s.section("debts", "What an act leaves owing, by its kind: paid, carried or waived.", []entry{
		{line: `unfinished: {carry: {owner: "", until: "2026-12-31", why: ""}}`},
		{line: `resume: {paid: {proof: ""}}`},
		{line: `reconcile: {waive: {person: "", why: ""}}`},
	})
	s.findings(rb)
	s.difference(rb)
	s.section("by_hand", "What is repaired outside of handrail, where no gate serves: it is recorded then, and\nowes a read of the step that shows it.", []entry{
		{line: `- {what: "the command, or words", object: "", person: "", proof: STEP, shows: ""}`},
	})
	s.section("skip", "Steps to pass over, with the reason. What is required cannot be.", []entry{{line: `STEP: "why it is not needed here"`}})
	s.section("waive", "What cannot be had, in the name of a person: law 1 for a capture, 8 for a proof, 12 for an owner; or a finding, by its words.", []entry{
		{line: `- {law: 1, subject: STEP, person: "", why: ""}`},
		{line: `- {finding: "the words of the finding", subject: STEP, person: "", why: ""}`},
	})
	s.section("people", "Who is on the call. At SEV-1 a repair wants a commander.", []entry{{line: `- {name: "", roles: [commander]}`}})
	s.severity(rb)
	return s.String()
}

func (s *sheet) params(rb *runbooks.Runbook, given map[string]string) {
	var list []entry
	for _, p := range rb.Params {
		about := string(p.Type)
		if len(p.Values) > 0 {
			about += ", one of " + strings.Join(p.Values, ", ")
		}
		if p.Default != "" {
			about += ", by default " + p.Default
		}
		if p.Required {
			about += ", required"
		}
		value, live := given[p.Name]
		if !live {
			value, live = p.Default, p.Required
		}
		list = append(list, entry{about: []string{about + ": " + p.Doc}, line: p.Name + ": " + quoted(value), live: live})
	}
	s.section("params", "Parameters. -p NAME=VALUE goes over them.", list)
}

// steps lists the questions or the tasks of a runbook.
func (s *sheet) steps(rb *runbooks.Runbook, kind triage.StepKind, name, about string) {
	var list []entry
	for _, st := range rb.Steps {
		if st.Kind != kind {
			continue
		}
		t := rb.Written(st.ID)
		where := string(st.Phase)
		if st.Required {
			where += ", required"
		}
		if len(st.Covers) > 0 {
			where += ", covers " + strings.Join(st.Covers, " ")
		}
		e := entry{about: []string{folded(t.Ask) + " (" + where + ")"}, line: st.ID + `: {value: "", how: ""}`, live: st.Required}
		for _, c := range t.Answers {
			e.about = append(e.about, "  "+choice(c.Value, c.Help))
		}
		switch {
		case kind == triage.ManualStep:
			e.line = st.ID + `: ""`
		case len(t.Answers) > 0:
			e.about = append(e.about, "  "+choice(triage.Unknown, "not known; say who was asked, and when again"))
		}
		if t.Evidence != "" {
			e.about = append(e.about, "Say with it: "+folded(t.Evidence))
		}
		if st.Pattern != "" {
			e.about = append(e.about, "It must match "+st.Pattern)
		}
		e.about = append(e.about, st.MustName()...)
		list = append(list, e)
	}
	s.section(name, about, list)
}

func (s *sheet) topics(rb *runbooks.Runbook) {
	var list []entry
	asked := []triage.Topic{triage.TopicMutation, triage.TopicClass} // every gate asks for these two
	for _, st := range rb.Steps {
		if st.Kind == triage.ConcludeStep && !slices.Contains(asked, st.Topic) {
			asked = append(asked, st.Topic)
		}
	}
	for _, topic := range asked {
		var can []string
		for _, c := range view.TopicValues(topic) {
			can = append(can, c.Value)
		}
		about := string(topic) + ": one of " + strings.Join(can, ", ")
		if can == nil {
			about = string(topic) + ": in a few words"
		}
		list = append(list, entry{about: []string{about}, line: string(topic) + ": " + accept})
	}
	s.section("conclude", `Conclusions. accept takes what the facts propose, never unknown; another value is
written {value: "", why: "", person: ""}, with a person where it is less careful.`, list)
}

func (s *sheet) gates(rb *runbooks.Runbook) {
	var list []entry
	for _, st := range rb.Steps {
		if st.Kind != triage.GateStep {
			continue
		}
		list = append(list, entry{about: []string{fmt.Sprintf("%s (%s, %s)", st.Title, st.Class, st.Uses)}, line: st.ID + `: {phrase: ""}`})
	}
	s.section("gates", `Gates to open, each with the phrase that its preview shows. approval names the file in
which the answer of a second person will appear; why is for a wider pause.`, list)
}

// findings lists those of the runbook that keep no gate shut. Its reads may have more.
func (s *sheet) findings(rb *runbooks.Runbook) {
	var list []entry
	for _, f := range rb.Loose() {
		if len(f.Quote) < leastQuote {
			f.Quote = "the words of the finding"
		}
		list = append(list, entry{line: fmt.Sprintf(`- {finding: %s, subject: %s, resolved: ""}`, quoted(f.Quote), f.Step)})
	}
	if len(list) == 0 {
		list = []entry{{line: `- {finding: "the words of the finding", subject: STEP, resolved: ""}`}}
	}
	s.section("findings", `Critical findings that shut no gate, by their words: before the close as recovered each
that shows is resolved, or taken by a person, as in taken: ada. What a read finds critical
by itself is answered the same way.`, list)
}

// difference lists the questions before the record is written, where a gate writes it.
func (s *sheet) difference(rb *runbooks.Runbook) {
	if !slices.ContainsFunc(rb.Steps, func(st runbooks.Step) bool { return slices.Contains(triage.RecordKinds(), st.Uses) }) {
		return
	}
	var list []entry
	for _, q := range triage.DriftQuestions() {
		list = append(list, entry{about: []string{q.Ask}, line: q.ID + `: ""`})
	}
	s.section("difference", `Before a gate writes the record: what conclusions, comparisons and authority have not
answered by then. What they answer is not asked, and what stands here is not used.`, list)
}

func (s *sheet) severity(rb *runbooks.Runbook) {
	about := fmt.Sprintf("Severity: %s by default.", rb.Severity)
	for _, l := range triage.SeverityLevels() {
		about += fmt.Sprintf("\n%s: %s.", l.Level, l.Line())
	}
	s.section("severity", about, []entry{
		{line: fmt.Sprintf(`level: %s`, rb.Severity)}, {line: `why: ""`},
	})
}

// folded is a text on one line.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

func choice(value, help string) string {
	if help == "" {
		return value
	}
	return value + ": " + folded(help)
}
