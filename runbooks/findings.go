package runbooks

import (
	"strings"

	"handrail/steps"
)

// Findings gives what the facts of a step are worth saying about, each against the
// gates, or [triage.Closing], that it keeps shut. A finding whose condition is
// unknown is said too, as unsure.
func (r *Runbook) Findings(step string, v Vars) []steps.Finding {
	s := r.step(step)
	if s == nil {
		return nil
	}
	var out []steps.Finding
	for _, f := range s.findings {
		say := strings.TrimSpace(r.render(f.say, v))
		found := steps.Finding{Level: f.level, Say: say, Against: r.opposes(s, f)}
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
			if found.Level != steps.Info {
				found.Level = steps.Warning
			}
			found.Say, found.Unsure = "cannot tell: "+say+" ("+got.why+")", true
			out = append(out, found)
		}
	}
	return out
}
