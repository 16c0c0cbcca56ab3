package settings

import (
	"fmt"

	"handrail/session/policy"
)

// lowering says in a sentence why a policy asks for a second person to lower the severity, "" where it does not: a rule
// that held at the worst severity would no longer hold at the new one.
func (pol teamPolicy) lowering(q policy.Question) string {
	for _, rule := range pol.Rules {
		if rule.severity != "" && q.Severity <= rule.severity && q.To > rule.severity { // SEV-1 is the worst
			return fmt.Sprintf("the policy asks two persons at %s or worse, and the incident was at %s: one person does not lower it to %s", rule.severity, q.Severity, q.To)
		}
	}
	return ""
}
