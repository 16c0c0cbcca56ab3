package runbooks

import (
	"cmp"
	"strings"

	"handrail/triage"
)

// Texts are what a step says to a person, with the values that are known.
// Unknown ones show as "unknown".
type Texts struct {
	Title    string
	Ask      string // the question, instruction or note itself
	Say      string // guidance
	Help     string // more, on demand
	Evidence string // what to write down or paste
	Answers  []Choice
	Show     []Shown
}

// Shown is one value to put before the person.
type Shown struct {
	Name  string // its label, else the expression
	Expr  string // as facts.lock.who
	Value string
	Known bool
	Why   string   // of an unknown one
	Each  []string // of a list or a table with more than one entry: each of them
}

// Say gives the texts of a step, the zero Texts for one that the runbook lacks.
func (r *Runbook) Say(step string, v Vars) Texts {
	s := r.step(step)
	if s == nil {
		return Texts{}
	}
	out := Texts{
		Title: s.Title, Answers: s.Answers,
		Ask: r.trimmed(s.ask, v), Say: r.trimmed(s.say, v), Help: r.trimmed(s.help, v), Evidence: r.trimmed(s.evidence, v),
	}
	for _, d := range s.show {
		got := r.eval(d.value, v)
		row := Shown{Name: cmp.Or(d.label, d.value.src), Expr: d.value.src, Value: triage.Unknown, Known: got.known(), Why: got.why}
		if got.known() {
			row.Value, row.Each = show(got.val), each(got.val)
		}
		out.Show = append(out.Show, row)
	}
	return out
}

// Written gives the texts of a step as its author wrote them: `${…}` stands where a
// value will.
func (r *Runbook) Written(step string) Texts {
	s := r.step(step)
	if s == nil {
		return Texts{}
	}
	return Texts{Title: s.Title, Answers: s.Answers, Ask: s.ask.written(), Say: s.say.written(), Help: s.help.written(), Evidence: s.evidence.written()}
}

func (r *Runbook) trimmed(t *text, v Vars) string { return strings.TrimSpace(r.render(t, v)) }
