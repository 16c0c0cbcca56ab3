package session_test

import (
	"errors"
	"testing"

	"handrail/session/replay"
	"handrail/triage"
)

// TestFollowShowsWhatAnotherHandrailDoes looks on while a session works: every entry arrives, in the state that the session
// has, and nothing can be done.
func TestFollowShowsWhatAnotherHandrailDoes(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	f, err := replay.Follow(s.Snapshot().Bundle, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	same := func(after string) {
		t.Helper()
		f.Grow()
		_, last := f.Place()
		f.Go(last)
		if got, want := f.Snapshot().State, s.Snapshot().State; triage.Digest(got) != triage.Digest(want) || f.Ends() != "" {
			t.Fatalf("after %s it shows entry %d, ends %q; the session is at %d", after, got.Seq, f.Ends(), want.Seq)
		}
	}
	same("the open")
	ready(t, s)
	same("the probes")
	if err := s.Do(t.Context(), preview()); err != nil {
		t.Fatal(err)
	}
	same("the preview")
	if g := f.Snapshot().Gate; g == nil || g.Phase != triage.GateArmed {
		t.Errorf("the armed gate shows as %+v", g)
	}
	before := f.Snapshot().Blobs
	if err := s.Do(t.Context(), confirm()); err != nil {
		t.Fatal(err)
	}
	quiet(t, s)
	same("the act")
	if len(f.Snapshot().Blobs) < len(before) {
		t.Error("artifacts were lost on the way")
	}
	if n := f.Grow(); n != 0 || !f.Live() {
		t.Errorf("%d new entries without anybody writing", n)
	}
	var refused *triage.Refused
	if err := f.Do(t.Context(), preview()); !errors.As(err, &refused) {
		t.Errorf("an intent: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
