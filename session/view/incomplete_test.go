package view

import (
	"strings"
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestIncompleteEvidenceIsProposed: a change whose proof cannot be had is a class of its own
// where nothing is left to act on, and never where a rule of the runbook could not be told.
func TestIncompleteEvidenceIsProposed(t *testing.T) {
	t.Parallel()
	const src = `apiVersion: handrail/v1
kind: Runbook
id: sample
title: A sample
domain: state-backend
severity: SEV-3
preserve:
  - {id: lock, uses: terraform/lock, required: true, covers: [E9]}
  - {id: state, uses: terraform/state}
classify:
  - conclude: class
    cases: [{when: "facts.state.condition == 'truncated'", is: RecordedStateDiverged, say: it was cut off}]
`
	rb, err := runbooks.Parse("sample.yaml", []byte(src), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, mutation, condition, want string
		waive                           bool
	}{
		{"nothing is left to act on", "yes", "sound", triage.EvidenceIncomplete, true},
		{"all is captured", "yes", "sound", triage.Unknown, false},
		{"nothing changed", "no", "sound", triage.Unknown, true},
		{"something more urgent", "yes", "truncated", "RecordedStateDiverged", true},
		{"what may be urgent was not read", "yes", "", triage.Unknown, true},
	} {
		var st triage.State
		tell := func(b triage.Body) {
			t.Helper()
			var err error
			if st, err = triage.Fold(st, triage.Event{Seq: st.Seq + 1, At: now, Actor: "robot", Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		tell(triage.Open{Incident: "i", Title: "x", Severity: triage.Sev3})
		tell(rb.Plan(nil))
		read := func(step, outcome string, facts map[string]triage.Value) {
			tell(triage.ProbeStart{Step: step, N: 1})
			tell(triage.ProbeEnd{Step: step, N: 1, Outcome: outcome, Facts: facts})
		}
		if tc.waive {
			read("sample/lock", "denied", nil)
			tell(triage.Waive{Law: 1, Subject: "sample/lock", Person: "ana", Why: "the backend is gone"})
		} else {
			read("sample/lock", "ok", nil)
		}
		if tc.condition != "" {
			read("sample/state", "ok", map[string]triage.Value{"condition": steps.EnumOf(tc.condition)})
		}
		tell(triage.Conclude{Topic: triage.TopicMutation, Value: tc.mutation})
		tell(triage.Conclude{Topic: triage.TopicConsistent, Value: "yes"})
		sc := &Scene{State: st, Now: now, Books: map[string]*runbooks.Runbook{rb.ID: rb}, Catalog: catalog.New()}
		got, grounds, why := sc.Propose(triage.TopicClass)
		if got != tc.want {
			t.Errorf("%s: %s (%s), want %s", tc.name, got, why, tc.want)
		}
		if got == triage.EvidenceIncomplete && (!strings.Contains(why, "waived by ana") || !strings.Contains(strings.Join(grounds, " "), "E9 is waived")) {
			t.Errorf("it does not say what is lacking: %s, %q", why, grounds)
		}
	}
}
