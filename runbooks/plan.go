package runbooks

import (
	"maps"
	"slices"
	"strings"
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
	p := triage.Plan{Runbook: r.ID, Title: r.Title, Digest: r.Digest, Departs: r.Departs, Proves: r.Proves}
	if len(r.Matrix) > 0 {
		p.Matrix = r.Matrix[0]
	}
	if len(r.Matrix) > 1 {
		p.Rows = r.Matrix
	}
	if len(params) > 0 {
		p.Params = maps.Clone(params)
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
		Required: s.Required, Heavy: s.Heavy, Covers: s.Covers, Refs: r.refs(s), Params: r.params(s), Pays: s.Pays,
	}
	for _, t := range s.subjects() {
		for _, e := range t.exprs() {
			for _, name := range e.refs {
				if about, ok := strings.CutPrefix(name, "facts."); ok && !slices.Contains(out.About, r.full(about)) {
					out.About = append(out.About, r.full(about))
				}
			}
		}
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

// params returns the parameters of the runbook that a step uses, in what it reads,
// asks, finds or shows.
func (r *Runbook) params(s *Step) []string {
	exprs := s.conditions()
	for _, f := range s.findings {
		exprs = append(append(exprs, f.when), f.say.exprs()...)
	}
	for _, d := range s.show {
		exprs = append(exprs, d.value)
	}
	for _, named := range s.names {
		exprs = append(exprs, named...)
	}
	for _, t := range []*text{s.ask, s.say, s.evidence} {
		exprs = append(exprs, t.exprs()...)
	}
	out := r.usedIn(exprs, nil)
	slices.Sort(out)
	return out
}

// usedIn adds to out the parameters that expressions use, each once.
func (r *Runbook) usedIn(exprs []*expr, out []string) []string {
	for _, e := range exprs {
		if e == nil {
			continue
		}
		for _, name := range e.refs {
			if x := r.scope.vars[name]; x.step == "" && !slices.Contains(out, x.field.Name) {
				out = append(out, x.field.Name)
			}
		}
	}
	return out
}
