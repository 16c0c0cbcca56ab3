package runbooks

import (
	"encoding/json"
	"slices"
	"time"

	"handrail/steps"
	"handrail/triage"
)

// DefaultFresh is how long facts and answers count for a gate whose runbook
// does not say.
const DefaultFresh = 15 * time.Minute

// Plan gives the skeleton that the journal keeps: what the loop needs to know
// of the runbook, so that a resume or an audit never reads the file of today.
func (r *Runbook) Plan(params steps.Params) triage.Plan {
	p := triage.Plan{Runbook: r.ID, Title: r.Title, Digest: r.Digest, Matrix: r.Matrix}
	if len(params) > 0 {
		p.Params = make(map[string]triage.Value, len(params))
		for name, v := range params {
			p.Params[name] = recorded(v)
		}
	}
	// A document of the library that does not compile has no references, and
	// then Judge refuses every gate of it.
	_ = r.compiled()
	for i := range r.Steps {
		p.Steps = append(p.Steps, r.planStep(&r.Steps[i]))
	}
	return p
}

func (r *Runbook) planStep(s *Step) triage.PlanStep {
	out := triage.PlanStep{
		ID: r.full(s.ID), Phase: s.Phase, Kind: s.Kind, Uses: s.Uses, Class: s.Class, Title: s.Title,
		Required: s.Required, Heavy: s.Heavy, Covers: s.Covers, Refs: r.refs(s), Pays: s.Pays,
	}
	switch s.Kind {
	case triage.ConcludeStep:
		out.Uses = string(s.Topic)
	case triage.WatchStep:
		out.Greens, out.Apart = s.Greens, s.Apart.String()
	case triage.AskStep:
		for _, a := range s.Answers {
			out.Answers = append(out.Answers, a.Value)
		}
		out.Green = s.Green
	case triage.GateStep:
		if s.Fresh == 0 {
			out.Fresh = DefaultFresh.String()
		}
	}
	if s.Fresh > 0 {
		out.Fresh = s.Fresh.String()
	}
	return out
}

// refs returns the steps, with the id of the runbook, that the conditions and
// parameters of s depend on.
func (r *Runbook) refs(s *Step) []string {
	var exprs []*expr
	if s.when != nil {
		exprs = append(exprs, s.when)
	}
	for _, d := range s.require {
		exprs = append(exprs, d.when)
	}
	for _, c := range s.cases {
		if c.when != nil {
			exprs = append(exprs, c.when)
		}
	}
	for _, row := range s.rows {
		for _, c := range row.cells {
			exprs = append(exprs, c.expr)
		}
	}
	for _, a := range s.with {
		for _, t := range a.value {
			exprs = append(exprs, t.exprs()...)
		}
	}
	var out []string
	for _, e := range exprs {
		for _, id := range r.stepsOf(e) {
			// A watch reads itself; that is no dependence.
			if !slices.Contains(out, id) && id != r.full(s.ID) {
				out = append(out, id)
			}
		}
	}
	return out
}

func (r *Runbook) stepsOf(e *expr) []string {
	var out []string
	for _, name := range e.refs {
		if step := r.scope.vars[name].step; step != "" && !slices.Contains(out, r.full(step)) {
			out = append(out, r.full(step))
		}
	}
	return out
}

// recorded turns a value to the form of the journal.
func recorded(v steps.Value) triage.Value {
	var out triage.Value
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return triage.Value{T: string(v.Type()), Unknown: err.Error()}
	}
	return out
}
