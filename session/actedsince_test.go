package session

import (
	"testing"

	"handrail/triage"
)

// TestOwnActsUndoNothing: a pause that the call itself ended is not reported
// as undone.
func TestOwnActsUndoNothing(t *testing.T) {
	t.Parallel()
	gate := func(start int64, server, object string) triage.GateState {
		return triage.GateState{StartSeq: start, Before: []triage.KV{{Key: "server", Value: server}, {Key: "object", Value: object}}}
	}
	r := triage.Reread{Step: "a/pause", Seq: 10}
	for want, other := range map[string]triage.GateState{
		"a/resume": gate(12, "s", "cronjob/x"),
		"":         gate(8, "s", "cronjob/x"),
	} {
		if got := actedSince(map[string]triage.GateState{"a/pause": gate(9, "s", "cronjob/x"), "a/resume": other}, r); got != want {
			t.Errorf("%+v: %q, want %q", other, got, want)
		}
	}
	for _, other := range []triage.GateState{gate(12, "s", "cronjob/y"), gate(12, "other", "cronjob/x"), {StartSeq: 12}} {
		if got := actedSince(map[string]triage.GateState{"a/pause": gate(9, "s", "cronjob/x"), "a/resume": other}, r); got != "" {
			t.Errorf("%+v counts as %q", other, got)
		}
	}
	if got := actedSince(map[string]triage.GateState{"a/pause": {StartSeq: 9}, "a/resume": {StartSeq: 12}}, r); got != "" {
		t.Errorf("targets that name no object count as %q", got)
	}
}
