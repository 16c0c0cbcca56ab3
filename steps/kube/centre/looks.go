package centre

import (
	"context"
	"time"

	"handrail/steps"
)

func looks() map[string]func(*Centre, context.Context, *answer) {
	return map[string]func(*Centre, context.Context, *answer){
		steps.StuckDeployments: (*Centre).stuck,
		steps.HangingDeletions: (*Centre).hanging,
		steps.RefusedRequests:  (*Centre).refused,
		steps.LockedRuns:       (*Centre).locked,
		steps.DegradedApps:     (*Centre).degraded,
		steps.DenyingPolicies:  (*Centre).denying,
		steps.FailedSecrets:    (*Centre).secrets,
		steps.OpenDrift:        (*Centre).drift,
		steps.BreakGlass:       (*Centre).breakGlass,
		steps.ManualChanges:    (*Centre).manual,
	}
}

// Asked says whether a question has anything to do with a cluster.
func Asked(question string) bool { return looks()[question] != nil }

// Ask answers one question as far as a cluster can; ok is false where it has
// nothing to do with one.
func (s *Centre) Ask(ctx context.Context, question string) (a steps.Answer, ok bool) {
	look := looks()[question]
	if look == nil {
		return steps.Answer{}, false
	}
	began := time.Now()
	w := &answer{Answer: steps.Answer{Question: question}}
	look(s, ctx, w)
	w.Took = time.Since(began)
	return w.Answer, true
}
