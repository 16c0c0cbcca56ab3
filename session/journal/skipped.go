package journal

import "handrail/triage"

// Skipped names the steps of the plan in force that were left out, in the order
// of the loop: skipped on purpose, or never taken.
func Skipped(st triage.State) []string {
	var out []string
	for _, s := range st.Steps {
		if !s.Retired && (s.Status == triage.Skipped || s.Status == triage.Pending) {
			out = append(out, s.ID)
		}
	}
	return out
}
