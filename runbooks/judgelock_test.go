package runbooks

import (
	"strings"
	"testing"

	"handrail/steps"
	"handrail/triage"
)

// TestHeldLockIsNoNo: while the lock is held, and not because it was the
// lock that stopped the attempt, nothing shows that the attempt is over.
func TestHeldLockIsNoNo(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
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
			Params:  map[string]steps.Value{"log": steps.PathOf("apply.log"), "plan": steps.PathOf("approved.tfplan")},
		}
		if got, _, _ := b.Propose(triage.TopicMutation, v); got != tc.want {
			t.Errorf("%s: mutation = %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestUnseenLockIsNotAskedFor: a backend that never tells its lock keeps no gate shut by
// that; the floors of the gate say what it stands on instead. Held or not read elsewhere
// does.
func TestUnseenLockIsNotAskedFor(t *testing.T) {
	t.Parallel()
	asked := 0
	for id, gates := range map[string][]string{"provider-throttling": {"adopt", "adopt_rest"}, "state-collision": {"restore_version", "restore_copy"},
		"state-corruption": {"restore_version", "restore_copy"}, "apply-before-mutation": {"apply"}} {
		b := named(t, id)
		for _, gate := range gates {
			for _, tc := range []struct {
				backend string
				held    steps.Value
				want    string
			}{
				{"http", steps.Unknown(steps.Bool, "it tells none"), "true"},
				{"s3", steps.Unknown(steps.Bool, "denied"), "unknown"},
				{"s3", steps.BoolOf(true), "false"},
				{"s3", steps.BoolOf(false), "true"},
			} {
				v := Vars{Facts: map[string]map[string]steps.Value{"lock": {"backend": steps.EnumOf(tc.backend), "held": tc.held}}, Answers: map[string]string{"precondition": "identity"}}
				for _, got := range b.Judge(gate, v) {
					if strings.Contains(got.Expr, "facts.lock.held") {
						asked++
						if got.Result != tc.want {
							t.Errorf("%s/%s: %s on %s with held %v is %s, want %s", id, gate, got.Expr, tc.backend, tc.held, got.Result, tc.want)
						}
					}
				}
			}
		}
	}
	if asked != 28 {
		t.Errorf("%d conditions were judged, want 28", asked)
	}
}
