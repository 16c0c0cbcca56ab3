package runbooks

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"handrail/steps"
	"handrail/triage"
)

// Judge gives the verdicts on the conditions of a step: `when` of a probe, ask
// or gate, each `require` of a gate, a parameter of the runbook that a gate lacks, and what a
// question is about that could not be read. Only when all are "true" may the step start. A step without conditions has none; a step that the runbook lacks has
// one, and it refuses. The condition of a watch is no precondition: see Green.
func (r *Runbook) Judge(step string, v Vars) []triage.Verdict {
	s := r.step(step)
	if s == nil {
		return []triage.Verdict{{Result: resError, Why: "the runbook " + r.ID + " has no step " + r.bare(step)}}
	}
	var out []triage.Verdict
	if s.when != nil && s.Kind != triage.WatchStep {
		applies := r.applies(s, v)
		applies.Aside, applies.Params = true, nil // what does not apply waits for nothing
		out = append(out, applies)
	}
	for _, d := range s.require {
		out = append(out, r.judge(d.when, d.other, v))
	}
	out = append(out, r.lacking(s, v, out)...)
	return append(out, r.unread(s, v)...)
}

// lacking gives a verdict for each argument of a gate that is empty because a parameter of the
// runbook is not given, unless a condition of the gate waits for that parameter already.
func (r *Runbook) lacking(s *Step, v Vars, said []triage.Verdict) (out []triage.Verdict) {
	if s.Kind != triage.GateStep {
		return nil
	}
	for _, a := range s.with {
		if !a.field.Required || !textual(a.field.Type) {
			continue
		}
		names := slices.DeleteFunc(r.ungivenIn(a, v), func(name string) bool {
			return slices.ContainsFunc(said, func(d triage.Verdict) bool { return d.Result == resFalse && slices.Contains(d.Params, name) })
		})
		if got, err := r.argument(s, a, v); len(names) == 0 || err != nil || got.Text() != "" {
			continue
		}
		out = append(out, triage.Verdict{Expr: "params." + names[0] + " != ''", Result: resFalse, Params: names,
			Why: "The runbook's parameter " + strings.Join(names, " or ") + " is not given."})
	}
	return out
}

// unread gives a verdict for each fact that the text of a question or of a step by hand
// names and that is not known: to answer it would be to speak of nothing.
func (r *Runbook) unread(s *Step, v Vars) []triage.Verdict {
	var out []triage.Verdict
	for _, t := range s.subjects() {
		for _, e := range t.exprs() {
			got := r.eval(e, v)
			if got.known() || got.result == resStale || len(r.stepsOf(e)) == 0 {
				continue
			}
			why := "what it asks about was not read: " + got.why
			if !slices.ContainsFunc(out, func(o triage.Verdict) bool { return o.Why == why }) {
				out = append(out, triage.Verdict{Expr: e.src, Result: resUnknown, Unread: true, Why: why, Missing: got.missing, Refs: r.stepsOf(e)})
			}
		}
	}
	return out
}

// Aside says why a step does not apply now: its own condition is known to be
// false. "" where it applies, or where that is not known.
func (r *Runbook) Aside(step string, v Vars) string {
	s := r.step(step)
	if s == nil || s.when == nil || s.Kind == triage.WatchStep {
		return ""
	}
	if d := r.applies(s, v); d.Result == resFalse {
		return d.Why
	}
	return ""
}

// applies judges whether a step applies. What did not by its last reading is not wanted
// because that grew old, and what rests on a step alone that does not apply, and was not read,
// does not apply either. A proof of the recovery is never taken off that way.
func (r *Runbook) applies(s *Step, v Vars) triage.Verdict {
	now := r.judge(s.when, nil, v)
	switch now.Result {
	case resStale:
		if last := r.judge(s.when, nil, v.ageless()); last.Result == resFalse {
			return last
		}
	case resUnknown:
		if s.Phase == triage.Verify {
			break
		}
		if on := r.restsOnAside(s, now.Missing, v); on != nil {
			now.Result, now.Why, now.At, now.Aged = resFalse, "it rests on “"+cmp.Or(on.Title, on.ID)+"”, which does not apply", time.Time{}, nil
		}
	}
	return now
}

// restsOnAside is the first of the steps whose values a condition lacks, where none of them
// applies and none was read; nil otherwise. They stand before s: a later one is not asked.
func (r *Runbook) restsOnAside(s *Step, missing []string, v Vars) (first *Step) {
	for _, name := range missing {
		x, ok := r.scope.vars[name]
		if !ok || x.step == "" {
			return nil
		}
		on := r.step(x.step)
		if on == nil || on == s || on.when == nil || on.Kind == triage.WatchStep || !v.Read[x.step].IsZero() || v.Answers[x.step] != "" || !r.before(on, s) {
			return nil
		}
		if r.applies(on, v).Result != resFalse {
			return nil
		}
		if first == nil {
			first = on
		}
	}
	return first
}

// before reports whether a step stands before another.
func (r *Runbook) before(a, b *Step) bool {
	at := func(id string) int { return slices.IndexFunc(r.Steps, func(x Step) bool { return x.ID == id }) }
	return at(a.ID) < at(b.ID)
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
		out.Params = r.ungiven(e, v)
	case resStale:
		out.Why = "stale, read again: " + got.why
	default:
		out.Why = "cannot tell: " + got.why
	}
	if got.result == resFalse || got.result == resUnknown {
		out.At, out.Aged = r.turns(e, v, resTrue)
	}
	return out
}

// mostWait is how far ahead a condition is looked at.
const mostWait = 7 * 24 * time.Hour

// turns says when a condition comes to a result by the ages in it alone, and which
// steps must be read again then; zero where time does not bring it.
func (r *Runbook) turns(e *expr, v Vars, to string) (at time.Time, by []string) {
	for _, name := range e.refs {
		x := r.scope.vars[name]
		if !x.field.Ages || v.Read[x.step].IsZero() || v.Facts[x.step][x.field.Name].Duration() <= 0 {
			continue
		}
		if by = append(by, x.step); v.Read[x.step].After(at) {
			at = v.Read[x.step]
		}
	}
	holds := func(after time.Duration) bool {
		v.older = after
		return r.eval(e, v).result == to
	}
	if len(by) == 0 || !holds(mostWait) {
		return time.Time{}, nil
	}
	// The first whole second of waiting at which it holds.
	wait := sort.Search(int(mostWait/time.Second), func(n int) bool { return holds(time.Duration(n) * time.Second) })
	return at.Add(time.Duration(wait) * time.Second), slices.Compact(by)
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

// NothingHere is the summary of a watch that has nothing to read.
const NothingHere = "Not read: what it is to show does not occur here, by the parameters."

// Moot reports whether the parameters alone make the condition of a watch true, as of a broker
// where none is involved: then there is nothing to read, and nothing that could not be read.
// Where answers or other readings make it true, it is read: it may show more than its condition
// looks at.
func (r *Runbook) Moot(step string, v Vars) bool {
	if s := r.step(step); s == nil || s.Kind != triage.WatchStep {
		return false
	}
	green := r.Green(step, Vars{Params: v.Params})
	return green.Known() && green.Bool()
}

// Untrue are the findings of a step, by their rule, whose condition is known not to hold.
func (r *Runbook) Untrue(step string, v Vars) map[int]bool {
	out := map[int]bool{}
	if s := r.step(step); s != nil {
		for i, f := range s.findings {
			out[i+1] = f.when != nil && r.eval(f.when, v).result == resFalse
		}
	}
	return out
}

// Grounds are the steps on which a finding of a step stands.
func (r *Runbook) Grounds(step string, rule int) []string {
	s := r.step(step)
	if s == nil || rule < 1 || rule > len(s.findings) || s.findings[rule-1].when == nil {
		return nil
	}
	return r.stepsOf(s.findings[rule-1].when)
}

// Findings gives what the facts of a step are worth saying about, each against the
// gates, or [triage.Closing], that it keeps shut. A finding whose condition is
// unknown is said too, as unsure.
func (r *Runbook) Findings(step string, v Vars) []steps.Finding {
	s := r.step(step)
	if s == nil {
		return nil
	}
	var out []steps.Finding
	for i, f := range s.findings {
		say := strings.TrimSpace(r.render(f.say, v))
		found := steps.Finding{Level: f.level, Say: say, Against: r.opposes(s, f), Doubts: r.asked(f.doubts), Rule: i + 1}
		if f.when == nil {
			out = append(out, found)
			continue
		}
		switch got := r.eval(f.when, v); got.result {
		case resTrue:
			if len(found.Against) > 0 {
				found.At, _ = r.turns(f.when, v, resFalse)
			}
			out = append(out, found)
		case resFalse:
		default:
			if r.Moot(step, v) {
				continue // nothing was to be read for it
			}
			if found.Level != steps.Info {
				found.Level = steps.Warning
			}
			found.Say, found.Unsure = "cannot tell: "+say+" ("+got.why+")", true
			out = append(out, found)
		}
	}
	return out
}
