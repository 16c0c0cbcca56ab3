package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/steps/strict"
	"handrail/triage"
)

// Answers is a script of what people would say and type on a call (docs/decisions.md,
// Answers files). It drives the same session as the terminal; there is nothing in it that
// says yes to everything.
type Answers struct {
	File     string
	Runbook  string                   `key:"runbook"`
	Params   map[string]string        `key:"params"` // of the runbook, where the file opens the incident
	Answers  map[string]Answer        `key:"answers"`
	Manual   map[string]string        `key:"manual"` // step: proof
	Conclude map[string]Conclusion    `key:"conclude"`
	Skip     map[string]string        `key:"skip"` // step: why
	Waive    []triage.Waive           `key:"waive" each:"waiver"`
	Gates    map[string]Gate          `key:"gates"`
	Debts    map[string]triage.Settle `key:"debts" each:"debt"`
	// Findings answer critical findings that shut no gate, each by a part of its text.
	Findings []triage.FindingAnswer `key:"findings" each:"finding"`
	// Difference answers what nothing else does of a difference, before the record is
	// written: by the id of the question.
	Difference map[string]string `key:"difference"`
	// ByHand are repairs outside of handrail, recorded once no gate serves.
	ByHand   []triage.HandAct `key:"by_hand" each:"hand"`
	Notes    []string         `key:"notes" of:"a note"`
	Severity Severity         `key:"severity"`
	// People are who is on the call, by name, with what each is there as: at SEV-1 a
	// repair wants a commander.
	People []triage.Person `key:"people" each:"person"`
}

// Answer is the answer to a question, and how it is known: a file without it is
// refused, as the form is in the terminal.
type Answer struct {
	Value string `key:"value,required,short"`
	How   string `key:"how"`
}

// Conclusion is accept, or a value with its reason. A person answers for one that
// overrides towards less caution.
type Conclusion struct {
	Value  string `key:"value,required,short"`
	Why    string `key:"why"`
	Person string `key:"person"`
}

// Gate is what is said at one. Approval names, where a second person must agree, the
// file in which the approval will appear: it is read while the gate waits. Why says,
// for a gate that affects more than the first one of its plan, why that is needed.
type Gate struct {
	Phrase   string `key:"phrase,required"` // with ${env.*} and ${drill.*} only
	Approval string `key:"approval"`
	Why      string `key:"why"`
}

// Severity is how bad it is by the script, Level "" where it does not say. Approval
// names the file in which a second person's will appear, where policy asks for one to
// lower it.
type Severity struct {
	Level    triage.Severity `key:"level,required" as:"level"`
	Why      string          `key:"why,required"`
	Approval string          `key:"approval"`
}

// ParseAnswers reads an answers file. Bad input gives strict.Problems with
// their places.
func ParseAnswers(file string, src []byte) (*Answers, error) {
	r := &strict.Reader{File: file, What: "an answers file"}
	doc := r.Document(src)
	if doc == nil {
		return nil, r.Problems.Sorted()
	}
	a := ReadAnswers(r, doc, true)
	if err := r.Problems.Sorted(); err != nil {
		return nil, err
	}
	return a, nil
}

// ReadAnswers reads the answers of a mapping; whole says that it is a document
// of its own, with apiVersion, kind and runbook.
func ReadAnswers(r *strict.Reader, n *strict.Node, whole bool) *Answers {
	own := *r
	own.Forms = Forms()
	a := &Answers{File: r.File}
	if whole {
		f := own.Struct(n, r.What, a, "apiVersion", "kind")
		own.Versioned(n, "Answers", f)
		own.Need(n, f, "runbook")
	} else {
		own.Struct(n, r.What, a)
	}
	a.words(&own, n)
	r.Problems = own.Problems
	return a
}

// Forms are how the items of answers are read. Tests of runbooks have the same words.
func Forms() map[string]strict.Form {
	return map[string]strict.Form{"waiver": waiver, "debt": debt, "level": level, "person": person, "hand": hand, "finding": finding}
}

// accept takes what the facts propose.
const accept = "accept"

// words holds each answer and conclusion to what the terminal asks with it.
func (a *Answers) words(r *strict.Reader, n *strict.Node) {
	r.Each(strict.At(n, "answers"), "answers", func(key, value *strict.Node) {
		if x := a.Answers[key.Value]; x.Value != "" && strings.TrimSpace(x.How) == "" {
			r.Fail(value, fmt.Sprintf("as in %s: {value: %s, how: what shows it}", key.Value, x.Value), "the answer %s does not say how it is known", key.Value)
		}
	})
	r.Each(strict.At(n, "conclude"), "conclude", func(key, value *strict.Node) {
		if x := a.Conclude[key.Value]; x.Value != "" && x.Value != accept && strings.TrimSpace(x.Why) == "" {
			r.Fail(value, fmt.Sprintf("as in %s: {value: %s, why: what it is based on}, or accept", key.Value, x.Value), "the conclusion %s gives no reason", key.Value)
		}
	})
}

// leastQuote is how much of a finding a script quotes to overrule it: a script never
// says yes to whatever will be found.
const leastQuote = 12

// waiver reads one: of a law, or of a finding by part of its text.
func waiver(r *strict.Reader, item *strict.Node, _ string) any {
	var w struct {
		Law     int    `key:"law" range:"1 12"`
		Finding string `key:"finding"`
		Subject string `key:"subject,required"`
		Person  string `key:"person,required"`
		Why     string `key:"why,required"`
	}
	f := r.Struct(item, "a waiver", &w)
	out := triage.Waive{Law: w.Law, Subject: w.Subject, Person: w.Person, Why: w.Why}
	switch n := f["finding"]; {
	case (n == nil) == (f["law"] == nil):
		r.Fail(item, "as in: {finding: the state is empty, subject: state, person: ada, why: a new workspace}", "a waiver is of a law, or of a finding")
	case n != nil:
		out.Findings = []string{w.Finding}
		if len(w.Finding) < leastQuote {
			r.Fail(n, "quote the finding", "%q is too short to identify a finding", w.Finding)
		}
	}
	return out
}

// debt reads how one is settled.
func debt(r *strict.Reader, n *strict.Node, key string) any {
	var d struct {
		Paid *struct {
			Proof string `key:"proof,required"`
		} `key:"paid"`
		Carry *struct {
			Owner string `key:"owner,required"`
			Until string `key:"until,required"`
			Why   string `key:"why"`
		} `key:"carry"`
		Waive *struct {
			Person string `key:"person,required"`
			Why    string `key:"why,required"`
		} `key:"waive"`
	}
	switch f := r.Struct(n, key, &d); {
	case len(f) != 1:
		r.Fail(n, "give one of paid, carry or waive", "the debt %s must be settled in exactly one way", key)
	case d.Paid != nil:
		return triage.Settle{How: "paid", Proof: d.Paid.Proof}
	case d.Carry != nil:
		return triage.Settle{How: "carried", Owner: d.Carry.Owner, Until: d.Carry.Until, Why: d.Carry.Why}
	case d.Waive != nil:
		return triage.Settle{How: "waived", Person: d.Waive.Person, Why: d.Waive.Why}
	}
	return nil
}

// finding reads the answer to one: how it was resolved, or who takes it.
func finding(r *strict.Reader, item *strict.Node, _ string) any {
	var w struct {
		Finding  string `key:"finding,required"`
		Subject  string `key:"subject,required"`
		Resolved string `key:"resolved"`
		Taken    string `key:"taken"`
		Why      string `key:"why"`
	}
	f := r.Struct(item, "a finding", &w)
	if n := f["finding"]; n != nil && len(w.Finding) < leastQuote {
		r.Fail(n, "quote the finding", "%q is too short to identify a finding", w.Finding)
	}
	out := triage.FindingAnswer{Step: w.Subject, Finding: w.Finding, How: triage.Taken, Person: w.Taken, Why: w.Why}
	switch {
	case (f["resolved"] == nil) == (f["taken"] == nil):
		r.Fail(item, "as in: {finding: the state is empty, subject: state, resolved: a new workspace}", "a finding is resolved, or taken by a person")
	case f["resolved"] != nil:
		out.How, out.Why, out.Person = triage.Resolved, w.Resolved, ""
	}
	return out
}

// hand reads a repair that a person made outside of handrail.
func hand(r *strict.Reader, item *strict.Node, _ string) any {
	var h struct {
		What   string `key:"what,required"`
		Object string `key:"object,required"`
		Person string `key:"person,required"`
		Proof  string `key:"proof,required"`
		Shows  string `key:"shows"`
	}
	r.Struct(item, "a repair by hand", &h)
	return triage.HandAct{What: h.What, Object: h.Object, Person: h.Person, Proof: h.Proof, Shows: h.Shows}
}

func level(r *strict.Reader, n *strict.Node, what string) any {
	var levels []string
	for _, l := range triage.SeverityLevels() {
		levels = append(levels, string(l.Level))
	}
	return triage.Severity(r.OneOf(n, what, levels))
}

func person(r *strict.Reader, n *strict.Node, _ string) any {
	var p struct {
		Name  string   `key:"name,required"`
		Roles []string `key:"roles" of:"a role"`
	}
	r.Struct(n, "a person", &p)
	return triage.Person{ID: "call/" + p.Name, Name: p.Name, Roles: p.Roles, Proof: "claimed"}
}

// Over returns a with everything that b gives put over it. What b skips, a has
// no word for any more.
func (a *Answers) Over(b *Answers) *Answers {
	out := *a
	out.Answers, out.Conclude = over(a.Answers, b.Answers), over(a.Conclude, b.Conclude)
	out.Manual, out.Skip, out.Gates = over(a.Manual, b.Manual), over(a.Skip, b.Skip), over(a.Gates, b.Gates)
	if len(b.People) > 0 {
		out.People = b.People
	}
	if b.Severity.Level != "" {
		out.Severity = b.Severity
	}
	out.Debts = over(a.Debts, b.Debts)
	out.Waive = append(slices.Clone(a.Waive), b.Waive...)
	out.Difference = over(a.Difference, b.Difference)
	out.Findings = append(slices.Clone(a.Findings), b.Findings...)
	out.ByHand = append(slices.Clone(a.ByHand), b.ByHand...)
	for id := range b.Gates { // what b opens it does not skip
		delete(out.Skip, id)
	}
	for id := range b.Skip {
		delete(out.Answers, id)
		delete(out.Manual, id)
		delete(out.Gates, id)
	}
	return &out
}

func over[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
}

// Check names the ids that a runbook lacks and the words that it would refuse, so
// that a script with a slip ends before the first read.
func (a *Answers) Check(rb *runbooks.Runbook) error {
	if a.Runbook != "" && a.Runbook != rb.ID {
		return fmt.Errorf("%s answers runbook %q, not %q", a.File, a.Runbook, rb.ID)
	}
	var bad []string
	check := func(what, id string, kinds ...triage.StepKind) {
		st, ok := rb.Step(id)
		if !ok || (len(kinds) > 0 && !slices.Contains(kinds, st.Kind)) {
			bad = append(bad, what+"."+id)
		}
	}
	for id := range a.Answers {
		check("answers", id, triage.AskStep)
	}
	for id := range a.Manual {
		check("manual", id, triage.ManualStep)
	}
	for id := range a.Skip {
		check("skip", id)
	}
	for id := range a.Gates {
		check("gates", id, triage.GateStep)
	}
	for _, w := range a.Waive {
		if w.Law != 12 {
			check("waive", w.Subject)
		}
	}
	for _, f := range a.Findings {
		check("findings", f.Step)
	}
	for id := range a.Difference {
		if !slices.ContainsFunc(triage.DriftQuestions(), func(q triage.DriftQuestion) bool { return q.ID == id }) {
			bad = append(bad, "difference."+id)
		}
	}
	for _, h := range a.ByHand {
		check("by_hand", h.Proof, triage.ProbeStep, triage.WatchStep)
	}
	for t := range a.Conclude {
		if !slices.Contains([]triage.Topic{triage.TopicDomain, triage.TopicMutation, triage.TopicConsistent, triage.TopicClass, triage.TopicOwner, triage.TopicReverts}, triage.Topic(t)) {
			bad = append(bad, "conclude."+t)
		}
	}
	if len(bad) > 0 {
		slices.Sort(bad)
		return fmt.Errorf("%s: runbook %s has no %s; see handrail runbook show %s", a.File, rb.ID, strings.Join(bad, ", "), rb.ID)
	}
	return a.refused(rb)
}

// refused says which words the loop would refuse whatever is found.
func (a *Answers) refused(rb *runbooks.Runbook) error {
	var bad []string
	add := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	for _, id := range slices.Sorted(maps.Keys(a.Answers)) {
		st, _ := rb.Step(id)
		var can []string
		for _, c := range st.Answers {
			can = append(can, c.Value)
		}
		if can = append(can, triage.Unknown); len(can) > 1 && !slices.Contains(can, a.Answers[id].Value) {
			add("answers.%s is one of %s, not %q", id, strings.Join(can, ", "), a.Answers[id].Value)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.Manual)) {
		st, _ := rb.Step(id)
		if err := st.Accepts(a.Manual[id]); err != nil {
			add("manual.%s: %v", id, err)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(a.Conclude)) {
		values := view.TopicValues(triage.Topic(topic))
		said := a.Conclude[topic].Value
		if said != accept && values != nil && !slices.ContainsFunc(values, func(c view.Choice) bool { return c.Value == said }) {
			add("conclude.%s cannot be %q", topic, said)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.Skip)) {
		st, _ := rb.Step(id)
		if law := st.Keeps(); law != 0 {
			add("skip.%s: it is required; settle it, or waive law %d for it with a name and a reason", id, law)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", a.File, strings.Join(bad, "; "))
}

// Missing names the required questions and tasks that a script has no word for, as
// the keys to add. The walk stops at the first of them that it comes to.
func (a *Answers) Missing(rb *runbooks.Runbook) []string {
	var out []string
	for _, st := range rb.Steps {
		key := map[triage.StepKind]string{triage.AskStep: "answers.", triage.ManualStep: "manual."}[st.Kind]
		if key == "" || !st.Required {
			continue
		}
		_, answered := a.Answers[st.ID]
		_, done := a.Manual[st.ID]
		_, skipped := a.Skip[st.ID]
		waived := slices.ContainsFunc(a.Waive, func(w triage.Waive) bool { return journal.Bare(w.Subject) == st.ID })
		if !answered && !done && !skipped && !waived {
			out = append(out, key+st.ID)
		}
	}
	return out
}
