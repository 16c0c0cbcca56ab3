package journal

import (
	"fmt"
	"time"

	"handrail/runbooks"
	"handrail/steps"
	"handrail/triage"
)

// freshFor is how old a fact or an answer may be before a gate may no longer
// stand on it (docs/decisions.md, Freshness), unless its step says otherwise.
const freshFor = 15 * time.Minute

// Vars gathers what the expressions of a runbook may see in a state. With fresh set,
// what is too old at now to open a gate is marked stale.
func Vars(st triage.State, runbook string, now time.Time, fresh bool) runbooks.Vars {
	v := runbooks.Vars{Params: st.Params(runbook), Facts: map[string]map[string]steps.Value{}, Answers: map[string]string{}, Stale: map[string]string{}, Old: map[string]bool{}, Read: map[string]time.Time{}, Domain: st.Topics[triage.TopicDomain].Value}
	for _, step := range st.Steps {
		if BookOf(step.ID) != runbook {
			continue
		}
		id := Bare(step.ID)
		if step.Answer != "" {
			v.Answers[id] = step.Answer
		}
		if len(step.Facts) > 0 {
			v.Facts[id], v.Read[id] = step.Facts, step.Ended
		}
		if !fresh {
			continue
		}
		again, read := overtaken(st, step)
		if step.Status == triage.Stale && step.Moved > step.StartSeq {
			v.Stale[id] = "a parameter has another value since; press r to read it again"
		} else if step.Status == triage.Stale {
			v.Stale[id] = "its target moved after it was read; press r to read it again"
		} else if again != "" {
			v.Stale[id] = again
		} else if age := now.Sub(read); !read.IsZero() && age > limit(step) {
			v.Old[id] = true
			said, again := "read", "press r to read it again"
			if step.Kind == triage.AskStep {
				said, again = "answered", "answer it again"
			}
			v.Stale[id] = fmt.Sprintf("%s %s ago, more than %s; %s", said, age.Round(time.Second), limit(step), again)
		}
	}
	return v
}

func limit(step triage.Step) time.Duration {
	if step.Fresh == "" {
		return freshFor
	}
	if d, err := time.ParseDuration(step.Fresh); err == nil && d > 0 {
		return d
	}
	return freshFor
}

// overtaken says why a comparison no longer counts for a gate: something that it
// stands on was read again since. Its age is that of the oldest of them.
func overtaken(st triage.State, step triage.Step) (why string, oldest time.Time) {
	oldest = step.Ended
	if len(step.Rows) == 0 {
		return "", oldest
	}
	by := map[int64]triage.Step{}
	for _, x := range st.Steps {
		if x.EndSeq > 0 {
			by[x.EndSeq] = x
		}
	}
	for _, row := range step.Rows {
		for _, side := range row.Sides {
			for _, seq := range side.From {
				x, ok := by[seq]
				if !ok {
					return "its inputs were read again since; press r to compare again", oldest
				}
				if x.Ended.Before(oldest) {
					oldest = x.Ended
				}
			}
		}
	}
	return "", oldest
}
