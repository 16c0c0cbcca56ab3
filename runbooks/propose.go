package runbooks

import (
	"cmp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// NoRule is what is said where each rule could be told, and none holds.
const NoRule = "no rule of the runbook holds"

// Propose gives what the rules of the runbook say about a topic: the first case
// that is true. When a case before it cannot be told, or none is true, that is
// "unknown". That the states agree is proposed only beside comparisons that agree.
// grounds are the facts and answers that decided, with their values.
func (r *Runbook) Propose(topic triage.Topic, v Vars) (value string, grounds []string, say string) {
	i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Kind == triage.ConcludeStep && s.Topic == topic })
	if i < 0 {
		return triage.Unknown, nil, "the runbook has no rule for this"
	}
	return r.firstCase(r.Steps[i].cases, v, func(c conclusion, grounds []string) (string, []string, string) {
		return r.beside(topic, c, grounds, v)
	})
}

// ProposeAnswer gives what the facts say to a question, and the words that are
// recorded with it: of the first case that is true. It is "" for a question to which
// the runbook has no proposal, and "unknown" when a case before it cannot be told
// or none is true.
func (r *Runbook) ProposeAnswer(step string, v Vars) (value string, grounds []string, say string) {
	s := r.step(step)
	if s == nil || s.Kind != triage.AskStep || len(s.cases) == 0 {
		return "", nil, ""
	}
	return r.firstCase(s.cases, v, func(c conclusion, grounds []string) (string, []string, string) {
		return c.is, grounds, strings.TrimSpace(r.render(c.say, v))
	})
}

// firstCase finds the first case that is true and gives what it holds.
func (r *Runbook) firstCase(cases []conclusion, v Vars, holds func(c conclusion, grounds []string) (string, []string, string)) (value string, grounds []string, say string) {
	for _, c := range cases {
		if c.when == nil {
			return holds(c, grounds)
		}
		switch got := r.eval(c.when, v); got.result {
		case resFalse:
		case resTrue:
			return holds(c, r.grounds(c.when, v))
		default:
			return triage.Unknown, r.grounds(c.when, v), got.why
		}
		for _, g := range r.grounds(c.when, v) {
			if !slices.Contains(grounds, g) {
				grounds = append(grounds, g)
			}
		}
	}
	return triage.Unknown, grounds, NoRule
}

// grounds gives the facts and answers of an expression with their values.
func (r *Runbook) grounds(e *expr, v Vars) []string {
	out := make([]string, 0, len(e.refs))
	for _, name := range e.refs {
		out = append(out, name+" = "+r.valueOf(name, v))
	}
	return out
}

func (r *Runbook) valueOf(name string, v Vars) string {
	x := r.scope.vars[name]
	if _, _, why := v.lookup(x); why != "" {
		return triage.Unknown
	}
	switch {
	case x.step == "":
		return plainly(v.Params[x.field.Name])
	case strings.HasPrefix(name, "answers."):
		return v.Answers[x.step]
	}
	return plainly(v.Facts[x.step][x.field.Name])
}

// plainly is the text of a value for a person.
func plainly(v steps.Value) string {
	switch {
	case !v.Known():
		return `""` // an optional text that was not given
	case v.Type() == steps.Duration:
		return span(v.Duration())
	case v.Type() == steps.Strings:
		return cmp.Or(strings.Join(v.Strings(), ", "), "none") // that there is nothing is knowledge
	}
	return cmp.Or(v.Text(), "none")
}

// Next is a runbook to go on with.
type Next struct {
	Runbook string
	With    map[string]string // parameters in their text form
	Say     string
}

// Next gives the runbooks whose condition holds. A parameter that depends on
// what is not known is left away.
func (r *Runbook) Next(v Vars) []Next {
	var out []Next
	for _, c := range r.next {
		if c.when == nil || r.eval(c.when, v).result != resTrue {
			continue
		}
		n := Next{Runbook: c.runbook, With: map[string]string{}, Say: strings.TrimSpace(r.render(c.say, v))}
		for _, w := range c.with {
			if got, lacking := r.renderNeeding(w.value, v); len(lacking) == 0 && got != "" {
				n.With[w.name] = got
			}
		}
		out = append(out, n)
	}
	return out
}

// owner is whom the runbook proposes as owner of the next transition: where the case says so,
// the recovery owner of the domain that was concluded, of the one that the facts propose, or
// of the domain that the runbook is for.
func (r *Runbook) owner(is, say string, v Vars) (owner, why string) {
	if is != DomainOwner {
		return is, say
	}
	domain := v.Domain
	if ownerOf(domain) == "" {
		domain, _, _ = r.Propose(triage.TopicDomain, v)
	}
	if ownerOf(domain) == "" {
		domain = r.Domain
	}
	return ownerOf(domain), strings.TrimSpace("The table names them for the domain " + domain + ". " + say)
}
