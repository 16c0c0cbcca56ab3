package runbooks

import (
	"strings"

	"handrail/steps"
)

// Finding is what a runbook finds in the facts of a step, and what that speaks
// against.
type Finding struct {
	steps.Finding
	Against []string // ids of gates, or [triage.Closing]
	Unsure  bool     // whether it holds is not known
}

// Findings gives what the facts of a step are worth saying about. A finding
// whose condition is unknown is said too, as unsure.
func (r *Runbook) Findings(step string, v Vars) []Finding {
	s := r.step(step)
	if s == nil {
		return nil
	}
	var out []Finding
	for _, f := range s.findings {
		say := strings.TrimSpace(r.render(f.say, v))
		found := Finding{Finding: steps.Finding{Level: f.level, Say: say}, Against: r.opposes(s, f)}
		if f.when == nil {
			out = append(out, found)
			continue
		}
		switch got := r.eval(f.when, v); got.result {
		case resTrue:
			out = append(out, found)
		case resFalse:
		default:
			if found.Level != steps.Info {
				found.Level = steps.Warning
			}
			found.Say, found.Unsure = "cannot tell: "+say+" ("+got.why+")", true
			out = append(out, found)
		}
	}
	return out
}
