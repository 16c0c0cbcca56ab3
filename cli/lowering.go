package cli

import (
	"fmt"

	"handrail/triage"
)

// lowering says why one person does not lower a severity, "" where one may: a rule of two persons that held at the
// worst severity would no longer hold.
func (p *program) lowering(worst, to triage.Severity, drill bool) (string, error) {
	if drill {
		return "", nil
	}
	list, err := p.policies()
	if err != nil {
		return "", fmt.Errorf("whether one person may lower the severity cannot be told: %w", err)
	}
	for _, pol := range list {
		for _, rule := range pol.rules {
			if rule.severity != "" && worst <= rule.severity && to > rule.severity {
				return fmt.Sprintf("the policy asks two persons at %s or worse, and the incident was at %s: one person does not lower it to %s", rule.severity, worst, to), nil
			}
		}
	}
	return "", nil
}
