package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"handrail/triage"
	"handrail/tui/screen"
)

// TestReadAll: one key starts every read of the phase that is ready, and only
// those; the step in front stays in front.
func TestReadAll(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.want(t, "R read all 3")
	s.bar("process")
	s.run.Take(s.Incident.Snapshot())
	s.want(t, "R read all 2")
	s.bench.slow = map[string]bool{id("lock"): true, id("state"): true}
	s.press("R")
	if len(s.bench.sent) != 2 || s.bench.sent[0].Step != id("lock") || s.bench.sent[1].Step != id("state") {
		t.Fatalf("R sent %+v", s.bench.sent)
	}
	if s.run.Focus != id("lock") {
		t.Errorf("the step in front is %s", s.run.Focus)
	}
	s.pass(12 * time.Second)
	s.bench.print(id("state"), "decoding 31 resources")
	s.hear()
	s.want(t, "12s of 60s", "ALSO RUNNING: 1", "decoding 31 resources", "X stop all 2")

	// The end of another read moves no selection.
	s.bench.endProbe(id("state"), s.bench.probes[id("state")])
	s.hear()
	if s.run.Focus != id("lock") || len(s.run.Snap.Running) != 1 {
		t.Errorf("after the end of another read: %s in front, %d running", s.run.Focus, len(s.run.Snap.Running))
	}
	s.press("R")
	s.want(t, "Every ready read of this phase")
}

// TestReadAllLeavesOut: what runs a program, what was tried and what is watched
// is never started together with others.
func TestReadAllLeavesOut(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*triage.Step){
		"heavy":   func(st *triage.Step) { st.Heavy = true },
		"tried":   func(st *triage.Step) { st.Attempts = 1 },
		"watch":   func(st *triage.Step) { st.Kind = triage.WatchStep },
		"gate":    func(st *triage.Step) { st.Kind = triage.GateStep },
		"skipped": func(st *triage.Step) { st.Status = triage.Skipped },
		"retired": func(st *triage.Step) { st.Retired = true },
		"later":   func(st *triage.Step) { st.Phase = triage.Verify },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			for i := range s.run.Snap.State.Steps {
				if st := &s.run.Snap.State.Steps[i]; st.ID == id("state") {
					change(st)
				}
			}
			for _, st := range s.run.Ready() {
				if st.ID == id("state") {
					t.Errorf("it is started with the others: %+v", st)
				}
			}
		})
	}
}

// TestReadAllTakesWhatIsStale: what a changed parameter made stale is read again in one round,
// not key by key.
func TestReadAllTakesWhatIsStale(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	for i := range s.run.Snap.State.Steps {
		if st := &s.run.Snap.State.Steps[i]; st.ID == id("state") {
			st.Attempts, st.Status = 1, triage.Stale
		}
	}
	if !slices.ContainsFunc(s.run.Ready(), func(st triage.Step) bool { return st.ID == id("state") }) {
		t.Errorf("it is left out: %+v", s.run.Ready())
	}
}

// TestStopOneAndAll: x stops the step in front, X all of them, and what was cut
// off says so and how to read it again.
func TestStopOneAndAll(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toReads()
	s.press("x")
	if st, _ := s.run.Snap.State.Step(id("lock")); st.Outcome != "cancelled" || len(s.run.Snap.Running) != 2 {
		t.Fatalf("x left %s, %d running", st.Outcome, len(s.run.Snap.Running))
	}
	s.want(t, "Stopped after 52s: nothing is known from it. r reads")
	s.press("X")
	if n := len(s.run.Snap.Running); n != 0 {
		t.Errorf("%d still run after X", n)
	}
	end := triage.ProbeEnd{Outcome: "timeout", Summary: "context deadline exceeded"}
	s.press("r")
	s.pass(time.Minute)
	s.bench.endProbe(id("lock"), end)
	s.hear()
	s.want(t, "Timed out after 1m 00s")
}

// TestBarredStep: the rail marks what cannot be done now, and the step says why
// and what would meet it; enter does not try it.
func TestBarredStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"log", "clean"} {
		s := onStage(t, 80, 24, true, "")
		s.bar(step)
		s.run.Take(s.Incident.Snapshot())
		s.run.Front(id(step))
		s.run.Decide()
		s.want(t, "× "+step, "WHAT IT STILL NEEDS", "fact lock.holder is", "→ complete the step that yields it first")
		if s.run.Move.Opt.Step == id(step) {
			t.Errorf("enter would do what cannot be done: %+v", s.run.Move)
		}
	}
	s := onStage(t, 80, 24, true, "")
	s.run.Front(id("unlock"))
	s.want(t, "× unlock", "WHAT IT STILL NEEDS")
}

// TestPassedOver: who skipped or waived a step, and why.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.run.Front(id("log"))
	s.press("s")
	s.write("no log was kept")
	s.press("enter")
	s.want(t, "✓ Skipped log")
	s.run.Front(id("log"))
	s.want(t, "Skipped by ana@example.org: no log was kept")
	s.run.Front(id("state"))
	s.press("w")
	s.write("Ben")
	s.press("enter")
	s.write("the bucket is gone")
	s.press("enter")
	s.run.Front(id("state"))
	s.want(t, "Waived by Ben, law 1: the bucket is gone")
}

// TestFollowUp: what follows from a reading is on the screen, with its keys.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.press("r")
	s.want(t, "the raw artifact of this reading", "needed by: unlock", "v raw", "r read again")
	st, _ := s.run.Snap.State.Step(id("lock"))
	first := s.run.EntryOf(st)
	s.press("r", "V")
	if s.At != screen.AtEvidence {
		t.Errorf("V leads to %q", s.At)
	}
	s.want(t, fmt.Sprintf("ENTRY %d ", first))
	s.press("esc")
	if s.At != screen.AtRun || s.run.Focus != id("lock") {
		t.Errorf("esc goes to %q %s", s.At, s.run.Focus)
	}
	s.press("v")
	if s.At != screen.AtEvidence || s.evidence.View == nil {
		t.Error("v does not open the raw artifact")
	}
	s.press("esc", ">")
	if s.At != screen.AtRun || s.run.Focus != id("unlock") {
		t.Errorf("> goes to %s", s.run.Focus)
	}
}
