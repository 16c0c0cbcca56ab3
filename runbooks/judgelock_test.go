package runbooks

import (
	"testing"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestHeldLockIsNoNo: while the lock is held, and not because it was the
// lock that stopped the attempt, nothing shows that the attempt is over.
func TestHeldLockIsNoNo(t *testing.T) {
	t.Parallel()
	lib, err := Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	var b *Runbook
	for _, r := range lib {
		if r.ID == "apply-before-mutation" {
			b = r
		}
	}
	for _, tc := range []struct {
		name, precondition, want string
		held                     steps.Value
	}{
		{"free", "identity", "no", steps.BoolOf(false)},
		{"held", "identity", "unknown", steps.BoolOf(true)},
		{"held, which is why it failed", "lock", "no", steps.BoolOf(true)},
		{"not read", "identity", "unknown", steps.Unknown(steps.Bool, "asked elsewhere")},
	} {
		v := Vars{
			Facts: map[string]map[string]steps.Value{
				"log": {"found": steps.BoolOf(true), "started": steps.IntOf(0), "ending": steps.EnumOf("failed"), "save_failed": steps.BoolOf(false),
					"whole": steps.BoolOf(true)},
				"approved": {"state_bound": steps.EnumOf("same"), "content_bound": steps.EnumOf("same")},
				"files":    {"errored": steps.BoolOf(false)},
				"lock":     {"held": tc.held},
			},
			Answers: map[string]string{"audit": "none", "events": "none", "precondition": tc.precondition},
		}
		if got, _, _ := b.Propose(triage.TopicMutation, v); got != tc.want {
			t.Errorf("%s: mutation = %q, want %q", tc.name, got, tc.want)
		}
	}
}
