package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/runbooks"
	"handrail/steps/strict"
	"handrail/triage"
)

// Answers is a script of what people would say and type on a call (docs/decisions.md,
// Answers files). It drives the same session as the terminal; there is nothing in it that
// says yes to everything.
type Answers struct {
	File     string
	Runbook  string
	Answers  map[string]Given
	Manual   map[string]string // step: proof
	Conclude map[string]Given  // topic: "accept", or a value with its reason
	Skip     map[string]string // step: why
	Waive    []triage.Waive
	Gates    map[string]string // step: phrase, with ${env.*} and ${drill.*} only
	// Approvals names, for a gate that needs a second person, the file in which the
	// approval will appear. It is read while the gate waits.
	Approvals map[string]string
	// Wider says, for a gate that contains more than the first one of its plan, why
	// that is needed.
	Wider map[string]string
	Debts map[string]triage.Settle
	Notes []string
	// Severity is how bad it is by the script, Level "" where it does not say. Approval
	// names the file in which a second person's will appear, where policy asks for one
	// to lower it.
	Severity struct {
		Level         triage.Severity
		Why, Approval string
	}
	// People are who is on the call, by name, with what each is there as: at SEV-1 a
	// repair wants a commander.
	People []triage.Person
}

// Given is a value and how it is known.
type Given struct {
	Value  string
	How    string // of an answer
	Why    string // of a conclusion
	Person string // of a conclusion that overrides towards less caution
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
func ReadAnswers(r *strict.Reader, n *yaml.Node, whole bool) *Answers {
	keys := []string{"answers", "manual", "conclude", "skip", "waive", "gates", "debts", "notes", "people", "severity"}
	if whole {
		keys = append([]string{"apiVersion", "kind", "runbook"}, keys...)
	}
	f := r.Fields(n, r.What, keys...)
	a := &Answers{File: r.File}
	if whole {
		r.OneOf(need(r, n, f["apiVersion"], "apiVersion"), "apiVersion", []string{"handrail/v1"})
		r.OneOf(need(r, n, f["kind"], "kind"), "kind", []string{"Answers"})
		a.Runbook = r.Text(need(r, n, f["runbook"], "runbook"), "runbook")
	}
	a.Answers = given(r, f["answers"], "answers", "value", "how")
	a.Conclude = given(r, f["conclude"], "conclude", "value", "why", "person")
	a.Manual = texts(r, f["manual"], "manual")
	a.Skip = texts(r, f["skip"], "skip")
	a.Gates, a.Approvals, a.Wider = phrases(r, f["gates"])
	for _, item := range r.Items(f["waive"], "waive") {
		a.Waive = append(a.Waive, waiver(r, item))
	}
	a.Debts = debts(r, f["debts"])
	for _, item := range r.Items(f["notes"], "notes") {
		a.Notes = append(a.Notes, r.Text(item, "a note"))
	}
	if n := f["severity"]; n != nil {
		v := r.Fields(n, "severity", "level", "why", "approval")
		a.Severity.Level = triage.Severity(r.OneOf(need(r, n, v["level"], "level"), "level", severityNames()))
		a.Severity.Why, a.Severity.Approval = r.Text(need(r, n, v["why"], "why"), "why"), r.Text(v["approval"], "approval")
	}
	for _, item := range r.Items(f["people"], "people") {
		w := r.Fields(item, "a person", "name", "roles")
		who := triage.Person{Name: r.Text(need(r, item, w["name"], "name"), "name"), Proof: "claimed"}
		who.ID = "call/" + who.Name
		for _, role := range r.Items(w["roles"], "roles") {
			who.Roles = append(who.Roles, r.Text(role, "a role"))
		}
		a.People = append(a.People, who)
	}
	return a
}

// leastQuote is how much of a finding a script quotes to overrule it: a script never
// says yes to whatever will be found.
const leastQuote = 12

// waiver reads one: of a law, or of a finding by part of its text.
func waiver(r *strict.Reader, item *yaml.Node) triage.Waive {
	w := r.Fields(item, "a waiver", "law", "finding", "subject", "person", "why")
	out := triage.Waive{
		Law: r.Number(w["law"], "law", 1, 12), Subject: r.Text(need(r, item, w["subject"], "subject"), "subject"),
		Person: r.Text(need(r, item, w["person"], "person"), "person"), Why: r.Text(need(r, item, w["why"], "why"), "why"),
	}
	switch n := w["finding"]; {
	case (n == nil) == (w["law"] == nil):
		r.Fail(item, "as in: {finding: the state is empty, subject: state, person: ada, why: a new workspace}", "a waiver is of a law, or of a finding")
	case n != nil:
		out.Findings = []string{r.Text(n, "finding")}
		if len(out.Findings[0]) < leastQuote {
			r.Fail(n, "quote the finding", "%q is too little to tell what is overruled", out.Findings[0])
		}
	}
	return out
}

func severityNames() []string {
	var out []string
	for _, l := range triage.SeverityLevels() {
		out = append(out, string(l.Level))
	}
	return out
}

func need(r *strict.Reader, parent, n *yaml.Node, what string) *yaml.Node {
	if n == nil {
		r.Fail(parent, "", "%s is missing", what)
	}
	return n
}

// each calls f for every key of a mapping.
func each(r *strict.Reader, n *yaml.Node, what string, f func(key string, v *yaml.Node)) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "", "%s must be a mapping of ids to values", what)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i].Value, n.Content[i+1])
	}
}

// given reads values that stand as a word alone or with their reasons.
func given(r *strict.Reader, n *yaml.Node, what string, keys ...string) map[string]Given {
	out := map[string]Given{}
	each(r, n, what, func(key string, v *yaml.Node) {
		if v.Kind == yaml.ScalarNode {
			out[key] = Given{Value: r.Text(v, key)}
			return
		}
		f := r.Fields(v, key, keys...)
		out[key] = Given{Value: r.Text(need(r, v, f["value"], "value"), "value"), How: r.Text(f["how"], "how"), Why: r.Text(f["why"], "why"), Person: r.Text(f["person"], "person")}
	})
	return out
}

// texts reads one text an id.
func texts(r *strict.Reader, n *yaml.Node, what string) map[string]string {
	out := map[string]string{}
	each(r, n, what, func(key string, v *yaml.Node) { out[key] = r.Text(v, key) })
	return out
}

// phrases reads what is typed at each gate, and where a second person's approval
// will be.
func phrases(r *strict.Reader, n *yaml.Node) (typed, approvals, wider map[string]string) {
	typed, approvals, wider = map[string]string{}, map[string]string{}, map[string]string{}
	each(r, n, "gates", func(key string, v *yaml.Node) {
		f := r.Fields(v, key, "phrase", "approval", "why")
		typed[key] = r.Text(need(r, v, f["phrase"], "phrase"), "phrase")
		if f["approval"] != nil {
			approvals[key] = r.Text(f["approval"], "approval")
		}
		if f["why"] != nil {
			wider[key] = r.Text(f["why"], "why")
		}
	})
	return typed, approvals, wider
}

func debts(r *strict.Reader, n *yaml.Node) map[string]triage.Settle {
	out := map[string]triage.Settle{}
	each(r, n, "debts", func(key string, v *yaml.Node) {
		f := r.Fields(v, key, "paid", "carry", "waive")
		if len(f) != 1 {
			r.Fail(v, "give one of paid, carry or waive", "the debt %s is settled in one way", key)
			return
		}
		if p := f["paid"]; p != nil {
			g := r.Fields(p, "paid", "proof")
			out[key] = triage.Settle{How: "paid", Proof: r.Text(need(r, p, g["proof"], "proof"), "proof")}
		}
		if c := f["carry"]; c != nil {
			g := r.Fields(c, "carry", "owner", "until", "why")
			out[key] = triage.Settle{How: "carried", Owner: r.Text(need(r, c, g["owner"], "owner"), "owner"), Until: r.Text(need(r, c, g["until"], "until"), "until"), Why: r.Text(g["why"], "why")}
		}
		if w := f["waive"]; w != nil {
			g := r.Fields(w, "waive", "person", "why")
			out[key] = triage.Settle{How: "waived", Person: r.Text(need(r, w, g["person"], "person"), "person"), Why: r.Text(need(r, w, g["why"], "why"), "why")}
		}
	})
	return out
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
	out.Approvals, out.Debts = over(a.Approvals, b.Approvals), over(a.Debts, b.Debts)
	out.Wider = over(a.Wider, b.Wider)
	out.Waive = append(slices.Clone(a.Waive), b.Waive...)
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

// Check names the ids that a runbook lacks, so that a script with a slip ends
// before the first read.
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
	for t := range a.Conclude {
		if !slices.Contains([]triage.Topic{triage.TopicDomain, triage.TopicMutation, triage.TopicConsistent, triage.TopicClass, triage.TopicOwner, triage.TopicReverts}, triage.Topic(t)) {
			bad = append(bad, "conclude."+t)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return fmt.Errorf("%s: runbook %s has no %s; see handrail runbook show %s", a.File, rb.ID, strings.Join(bad, ", "), rb.ID)
}
