package drills_test

import (
	"errors"
	"testing"

	"handrail/drills"
	"handrail/drills/lab"
	"handrail/session"
	"handrail/triage"
)

// TestReadsTogether starts the reads of a real incident at once: each comes to its
// own end, all are recorded, and the API server has seen no write.
func TestReadsTogether(t *testing.T) {
	t.Parallel()
	o, c := world(t)
	r, err := drills.Start(t.Context(), o, scene(t, "killed-runner", ""))
	if err != nil {
		t.Fatal(err)
	}
	rb, err := c.Library("state-lock")
	if err != nil {
		t.Fatal(err)
	}
	params, err := rb.Bind(r.Params())
	if err != nil {
		t.Fatal(err)
	}
	c.Env = r.Env(c.Env)
	s, err := session.Start(t.Context(), c, session.Begin{Runbook: rb, Params: params, Drill: r.ID()})
	if err != nil {
		t.Fatal(err)
	}
	reads := []string{"state-lock/lock", "state-lock/state", "state-lock/log"}
	if len(s.Snapshot().Cards["state-lock/process"].Shut) == 0 {
		t.Error("what needs the holder of the lock is not shut before that is known")
	}
	for _, step := range reads {
		if err := s.Do(t.Context(), triage.Intent{Kind: triage.DoProbe, Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	for len(s.Snapshot().Running) > 0 {
		select {
		case <-s.Changed():
		case <-t.Context().Done():
			t.Fatal("the reads never end")
		}
	}
	snap := s.Snapshot()
	for _, step := range reads {
		if st, _ := snap.State.Step(step); st.Status != triage.Settled || len(snap.Blobs[st.EndSeq]) == 0 {
			t.Errorf("%s is %s with %d artifacts: %s", step, st.Status, len(snap.Blobs[st.EndSeq]), st.Summary)
		}
	}
	if shut := snap.Cards["state-lock/process"].Shut; len(shut) > 0 {
		t.Errorf("the holder is known, and its step is shut: %+v", shut)
	}
	events, err := o.Lab.AuditEvents(t.Context(), lab.AuditFilter{User: r.Operator()})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Persists() {
			t.Errorf("a read wrote: %s %s/%s", e.Verb, e.Resource, e.Name)
		}
	}
	if err := errors.Join(s.Close(), r.Close(), drills.Stop(t.Context(), o, r.ID())); err != nil {
		t.Fatal(err)
	}
}
