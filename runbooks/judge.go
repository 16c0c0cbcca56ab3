package runbooks

import (
	"handrail/steps"
	"handrail/triage"
)

// Judge gives the verdicts on the conditions of a step: `when` of a probe, ask
// or gate, and each `require` of a gate. Only when all are "true" may the step
// start. A step without conditions has none; a step that the runbook lacks has
// one, and it refuses. The condition of a watch is no precondition: see Green.
func (r *Runbook) Judge(step string, v Vars) []triage.Verdict {
	s := r.step(step)
	if s == nil {
		return []triage.Verdict{{Result: resError, Why: "the runbook " + r.ID + " has no step " + r.bare(step)}}
	}
	var out []triage.Verdict
	if s.when != nil && s.Kind != triage.WatchStep {
		out = append(out, r.judge(s.when, nil, v))
	}
	for _, d := range s.require {
		out = append(out, r.judge(d.when, d.other, v))
	}
	return out
}

// Aside says why a step does not apply now: its own condition is known to be
// false. "" where it applies, or where nobody can tell.
func (r *Runbook) Aside(step string, v Vars) string {
	s := r.step(step)
	if s == nil || s.when == nil || s.Kind == triage.WatchStep {
		return ""
	}
	if d := r.judge(s.when, nil, v); d.Result == resFalse {
		return d.Why
	}
	return ""
}

func (r *Runbook) judge(e *expr, other *text, v Vars) triage.Verdict {
	got := r.eval(e, v)
	out := triage.Verdict{Expr: e.src, Result: got.result, Missing: got.missing, Refs: r.stepsOf(e), Aged: got.aged}
	switch got.result {
	case resTrue:
	case resFalse:
		if out.Why = r.render(other, v); out.Why == "" {
			out.Why = "does not hold: " + e.src
		}
	case resStale:
		out.Why = "stale, read again: " + got.why
	default:
		out.Why = "cannot tell: " + got.why
	}
	return out
}

// Green judges the condition of a watch: true, false, or unknown with why.
func (r *Runbook) Green(step string, v Vars) steps.Value {
	s := r.step(step)
	if s == nil || s.Kind != triage.WatchStep || s.when == nil {
		return steps.Unknown(steps.Bool, "not a watch of the runbook "+r.ID)
	}
	switch got := r.eval(s.when, v); got.result {
	case resTrue:
		return steps.BoolOf(true)
	case resFalse:
		return steps.BoolOf(false)
	default:
		return steps.Unknown(steps.Bool, got.why)
	}
}
