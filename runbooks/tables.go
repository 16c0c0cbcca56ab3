package runbooks

import (
	"maps"
	"slices"

	"handrail/steps"
	"handrail/triage"
)

// domainOwners names the recovery owner of each failure domain.
func domainOwners() map[string]string {
	return map[string]string{
		"source-control":    "repository owner or platform",
		"ci-validation":     "author or platform",
		"plan-engine":       "infrastructure owner or platform",
		"policy-engine":     "platform security or policy owner",
		"approval-system":   "change manager or platform",
		"runner":            "platform runtime owner",
		"state-backend":     "infrastructure platform owner",
		"cloud-apis":        "cloud platform owner",
		"gitops-controller": "cluster platform owner",
		"kubernetes-api":    "cluster platform owner",
		"secrets":           "security or platform owner",
		"artifact-registry": "delivery or platform owner",
		"observability":     "platform or SRE",
		"human-process":     "incident commander or governance",
	}
}

func domains() []string {
	return slices.Sorted(maps.Keys(domainOwners()))
}

// phaseKeys are the keys of a runbook that hold steps; declare is not one, for
// it is about the call and not about the failure.
func phaseKeys() []string {
	var out []string
	for _, p := range triage.Phases() {
		if p != triage.Declare {
			out = append(out, string(p))
		}
	}
	return out
}

// failureStates are what a classification may conclude.
func failureStates() []string {
	return []string{
		"RejectedBeforePlan", "PlanGeneratedButUnsafe", "ApprovedButStale", "MutationNotStarted",
		"MutationPartiallySucceeded", "RecordedStateDiverged", "LiveStateDiverged",
		"ReconciliationBlocked", "ReconciliationUnsafe", "EvidenceIncomplete",
	}
}

// topicValues are the values of a topic beside unknown, nil for free text.
func topicValues(t triage.Topic) []string {
	switch t {
	case triage.TopicDomain:
		return domains()
	case triage.TopicMutation, triage.TopicConsistent, triage.TopicReverts:
		return []string{"yes", "no"}
	case triage.TopicClass:
		return failureStates()
	}
	return nil
}

func topics() []string {
	return []string{
		string(triage.TopicDomain), string(triage.TopicMutation), string(triage.TopicConsistent),
		string(triage.TopicClass), string(triage.TopicOwner), string(triage.TopicReverts),
	}
}

func severities() []string {
	return []string{string(triage.Sev1), string(triage.Sev2), string(triage.Sev3), string(triage.Sev4)}
}

func levels() []string {
	return []string{string(steps.Info), string(steps.Warning), string(steps.Critical)}
}

func paramTypes() []string {
	return []string{
		string(steps.Bool), string(steps.Int), string(steps.String), string(steps.Enum),
		string(steps.Ident), string(steps.Duration), string(steps.Time), string(steps.Path),
	}
}

func debtKinds() []string { return []string{"reconcile", "resume", "unfinished"} }

// textual reports whether values of t are strings in an expression.
func textual(t steps.Type) bool {
	return t == steps.String || t == steps.Enum || t == steps.Ident || t == steps.Path
}
