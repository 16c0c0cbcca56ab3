package session_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/evidence"
	"handrail/session"
	"handrail/session/journal"
	"handrail/session/walk"
)

// TestPlayEndsWithoutAPlan: a crash or a full disk between the first entries
// leaves an incident without a runbook. A walk of it once concluded "unknown"
// for ever.
func TestPlayEndsWithoutAPlan(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	path := st.start(t).Snapshot().Bundle
	for keep := 2; keep <= 3; keep++ {
		cfg, copied := image(t, st, path)
		file := filepath.Join(copied, "journal", "000001.jsonl")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:keep], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := session.Resume(t.Context(), cfg, copied)
		if err != nil {
			t.Fatal(err)
		}
		res, err := walk.Play(t.Context(), s, walk.Script{Answers: &walk.Answers{}, Talk: io.Discard})
		if err != nil || res.Code != walk.CodeOpen || !strings.Contains(res.Why, "no runbook") {
			t.Errorf("Play() = %+v, %v, want it open for want of a runbook", res, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if rep, err := evidence.Verify(copied); err != nil || !rep.OK() {
			t.Errorf("Verify() = %+v, %v", rep.Lines, err)
		}
	}
}

// TestPlayEndsWhenNothingIsKnown gives a walk a script without a word.
func TestPlayEndsWhenNothingIsKnown(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.fails = context.DeadlineExceeded
	s := st.start(t)
	res, err := walk.Play(t.Context(), s, walk.Script{Answers: &walk.Answers{}, Talk: io.Discard})
	if err != nil || res.Code != walk.CodeOpen || res.Why == "" {
		t.Errorf("Play() = %+v, %v, want it open with a reason", res, err)
	}
	if st.w.acts != 0 {
		t.Error("something was changed")
	}
}

// TestClockThatRunsWrong lets the clock jump back and far ahead between preview
// and confirmation: an armed gate does not outlive its time, and no order of
// times breaks the bundle.
func TestClockThatRunsWrong(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{-48 * time.Hour, 48 * time.Hour} {
		st := newStage(t)
		s := st.start(t)
		ready(t, s)
		do(t, s, preview())
		st.clk.forward(jump)
		err := s.Do(t.Context(), confirm())
		if err := s.Close(); err != nil { // waits for the act, if there is one
			t.Fatal(err)
		}
		snap := s.Snapshot()
		if jump > 0 && (err == nil || st.w.acts != 0) {
			t.Errorf("two days later: %v, %d acts, want the preview expired", err, st.w.acts)
		}
		path := snap.Bundle
		if rep, err := evidence.Verify(path); err != nil || !rep.OK() {
			t.Errorf("jump of %s: Verify() = %+v, %v", jump, rep.Lines, err)
		}
		got, err := journal.LoadState(path)
		if err != nil || !got.Equal(snap.State) {
			t.Errorf("jump of %s: the journal folds to another state: %v", jump, err)
		}
	}
}
