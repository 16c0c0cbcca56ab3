package session

import (
	"fmt"
	"slices"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// freshFor is how old a fact or an answer may be before a gate may no longer
// stand on it (docs/decisions.md, Freshness), unless its step says otherwise.
const freshFor = 15 * time.Minute

// vars gathers what the expressions of a runbook may see. With fresh set, what
// is too old to open a gate is marked stale.
func (s *Session) vars(runbook string, fresh bool) runbooks.Vars {
	return varsOf(s.state, runbook, s.cfg.Now(), fresh, &s.long)
}

func varsOf(st triage.State, runbook string, now time.Time, fresh bool, long *journal.LongValues) runbooks.Vars {
	v := runbooks.Vars{Params: steps.Params{}, Facts: map[string]map[string]steps.Value{}, Answers: map[string]string{}, Stale: map[string]string{}}
	for _, p := range st.Plans {
		if p.Runbook == runbook {
			for name, val := range p.Params {
				v.Params[name] = journal.Loaded(val)
			}
		}
	}
	for _, step := range st.Steps {
		if journal.BookOf(step.ID) != runbook {
			continue
		}
		id := journal.Bare(step.ID)
		if step.Answer != "" {
			v.Answers[id] = step.Answer
		}
		if len(step.Facts) > 0 {
			facts := make(map[string]steps.Value, len(step.Facts))
			for name, val := range step.Facts {
				facts[name] = long.Loaded(val)
			}
			v.Facts[id] = facts
		}
		if !fresh {
			continue
		}
		again, read := overtaken(st, step)
		if step.Status == triage.Stale {
			v.Stale[id] = "its target moved after it was read; press r to read it again"
		} else if again != "" {
			v.Stale[id] = again
		} else if age := now.Sub(read); !read.IsZero() && age > limit(step) {
			v.Stale[id] = fmt.Sprintf("read %s ago, more than %s; press r to read it again", age.Round(time.Second), limit(step))
		}
	}
	return v
}

func limit(step triage.Step) time.Duration {
	if d, err := time.ParseDuration(step.Fresh); err == nil && d > 0 {
		return d
	}
	return freshFor
}

// judge evaluates the conditions of a gate against fresh evidence.
func (s *Session) judge(step string) []triage.Verdict {
	rb := s.books[journal.BookOf(step)]
	if rb == nil {
		return []triage.Verdict{{Result: "error", Why: "the runbook of this step is not loaded"}}
	}
	out := rb.Judge(journal.Bare(step), s.vars(rb.ID, true))
	if !slices.ContainsFunc(out, func(v triage.Verdict) bool { return len(v.Aged) > 0 }) {
		return out
	}
	// Reading again is worth it only where the gate would open on what was read.
	for i, v := range rb.Judge(journal.Bare(step), s.vars(rb.ID, false)) {
		if v.Result != "true" {
			out[i].Aged = nil
		}
	}
	return out
}

// unknownFacts gives every declared fact of a kind as unknown.
func (s *Session) unknownFacts(kind, why string) map[string]triage.Value {
	k, ok := s.cfg.Catalog.Lookup(kind)
	if !ok {
		return nil
	}
	out := make(map[string]triage.Value, len(k.Facts))
	for _, f := range k.Facts {
		out[f.Name] = journal.Stored(steps.Unknown(f.Type, why))
	}
	return out
}
