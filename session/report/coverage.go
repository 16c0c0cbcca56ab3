package report

import (
	"slices"
	"strings"

	"handrail/triage"
)

// items are the fourteen items of evidence, in order: E1 to E14.
var items = []string{
	"commit SHA", "pull request", "run ID", "plan artifact", "policy result", "approver identity", "runner identity",
	"version of the state backend", "lock ID", "workspace or unit", "provider error", "controller event",
	"namespace and resource", "snapshot of the live state",
}

// coverage says of each item whether a step that covers it is in the record. The best of several steps counts.
func (b *builder) coverage() {
	for i, item := range items {
		c := Coverage{Code: "E" + itoa(i+1), Item: item, State: "not asked"}
		best := 0
		var steps []string
		for _, s := range b.st.Steps {
			if !slices.Contains(s.Covers, c.Code) {
				continue
			}
			state, why, n := b.covered(s)
			if n == 0 { // of a runbook that is no longer in force, and never done
				continue
			}
			switch {
			case n > best:
				best, c.State, c.Why, steps = n, state, line(why), []string{s.ID}
			case n == best:
				steps = append(steps, s.ID)
			}
		}
		c.Steps = line(strings.Join(steps, ", "))
		b.d.Coverage = append(b.d.Coverage, c)
	}
}

// covered is the state of one covering step; a higher number is better evidence.
func (b *builder) covered(s triage.Step) (state, why string, n int) {
	switch s.Status {
	case triage.Settled:
		return "captured", "", 5
	case triage.Stale:
		return "captured", "its target moved after it was read", 4
	case triage.Waived:
		return "waived", b.waivedWhy(s.ID), 3
	case triage.Skipped:
		return "passed over", s.How, 2
	case triage.CannotTell:
		return "missing", "could not be read: " + s.Summary, 1
	}
	if s.Retired {
		return "", "", 0
	}
	return "missing", "not done", 1
}
