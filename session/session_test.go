package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/evidence"
	"handrail/evidence/disk"
	"handrail/session"
	"handrail/session/audit"
	"handrail/session/journal"
	"handrail/session/report"
	"handrail/triage"
)

func TestWalkToTheClose(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, confirm())
	snap := s.Snapshot()
	if g := snap.State.Gates["test-lock/unlock"]; g.Phase != triage.GateDone || st.w.acts != 1 {
		t.Fatalf("gate = %+v after %d acts, want done after 1", g.Phase, st.w.acts)
	}
	if len(snap.State.Debts) != 1 || snap.State.Debts[0].ID != "unfinished" {
		t.Fatalf("debts = %+v, want the unfinished run", snap.State.Debts)
	}
	closing := triage.Intent{Kind: triage.DoClose, Value: "recovered", Text: "done"}
	var r *triage.Refused
	if err := s.Do(t.Context(), closing); !errors.As(err, &r) {
		t.Fatalf("close before the proof = %v, want a refusal", err)
	}
	for range 2 {
		st.clk.forward(20 * time.Second)
		do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/free"})
	}
	do(t, s, triage.Intent{Kind: triage.DoSettle, Debt: triage.Settle{Debt: "unfinished", How: "carried", Owner: "platform", Until: "2026-12-01"}})
	do(t, s, closing)
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := audit.Bundle(path, st.w, audit.Verifier{})
	if err != nil || !rep.OK() {
		t.Fatalf("audit.Bundle() = %+v, %v, want all kept", rep.Lines, err)
	}
	bytes, err := evidence.Verify(path)
	if err != nil || !bytes.OK() {
		t.Fatalf("Verify() = %+v, %v, want all well", bytes.Lines, err)
	}
	page, err := os.ReadFile(report.Path(path))
	if err != nil || !strings.Contains(string(page), "recovered") || !strings.Contains(string(page), "unlock l-1") {
		t.Fatalf("report = %s, %v", page, err)
	}
}

func TestGateStaysShutBeforeEvidence(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	var r *triage.Refused
	if err := s.Do(t.Context(), preview()); !errors.As(err, &r) || r.Refusals[0].Law != 1 {
		t.Fatalf("preview before evidence = %v, want law 1", err)
	}
	if st.w.reads != 0 {
		t.Fatalf("a gate that no law opens read its target %d times", st.w.reads)
	}
	if g := s.Snapshot().Gate; g == nil || len(g.Refusals) == 0 {
		t.Fatalf("gate in front = %+v, want the refusals", g)
	}
}

// rounds is how often a race is run for: with the race detector, which sees it in few, fewer.
func rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

func TestTargetMovesBetweenPreviewAndAct(t *testing.T) {
	t.Parallel()
	for n := range rounds(100) {
		st := newStage(t)
		s := st.start(t)
		ready(t, s)
		// The second read is the re-read before the act, the third the executor's own.
		at := 2 + n%2
		st.w.onRead = func(read int, w *world) {
			if read == at {
				w.lock = "l-2"
			}
		}
		do(t, s, preview())
		err := s.Do(t.Context(), confirm())
		snap := quiet(t, s)
		if st.w.acts != 0 {
			t.Fatalf("run %d: the act ran on a target that moved", n)
		}
		g := snap.State.Gates["test-lock/unlock"]
		if at == 2 && (err == nil || g.Phase != triage.GateIdle || len(g.Moved) == 0) {
			t.Fatalf("run %d: err %v, gate %s, moved %v; want it disarmed with what moved", n, err, g.Phase, g.Moved)
		}
		if at == 3 && g.Phase != triage.GateRefused {
			t.Fatalf("run %d: gate %s, want refused", n, g.Phase)
		}
	}
}

func TestThreeWrongPhrasesCloseTheGate(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	for i, typed := range []string{"Unlock l-1", "unlock l-", "unlock l-1 "} {
		in := confirm()
		in.Typed = typed
		if err := s.Do(t.Context(), in); err == nil {
			t.Fatalf("phrase %d %q was taken", i, typed)
		}
	}
	if g := s.Snapshot().State.Gates["test-lock/unlock"]; g.Phase != triage.GateIdle || st.w.acts != 0 {
		t.Fatalf("gate = %s after %d acts, want closed after none", g.Phase, st.w.acts)
	}
	in := confirm()
	if err := s.Do(t.Context(), in); err == nil {
		t.Fatal("the right phrase opened a closed gate")
	}
}

func TestPastedPhraseLosesOnlyTrailingSpace(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	in := confirm()
	in.Typed, in.Pasted = "unlock l-1\n", true
	do(t, s, in)
	if st.w.acts != 1 {
		t.Fatalf("acts = %d, want 1", st.w.acts)
	}
}

// The arguments of an act reach it, and nothing that is shown.
func TestArgumentsOfAnActAreNotShown(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	if g := s.Snapshot().Gate; g == nil || g.Preview.Args != nil || g.Preview.Prior != nil {
		t.Errorf("the gate shows %+v", g)
	}
	do(t, s, confirm())
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateDone || st.w.acts != 1 {
		t.Errorf("the gate is %+v after %d acts", g, st.w.acts)
	}
}

func TestProbeThatPanicsOrFailsLeavesUnknowns(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*world){
		"panic": func(w *world) { w.panics = true },
		"error": func(w *world) { w.fails = errors.New("forbidden: no rights") },
	} {
		st := newStage(t)
		set(st.w)
		s := st.start(t)
		do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
		step, _ := s.Snapshot().State.Step("test-lock/lock")
		if step.Outcome != "failed" || step.Facts["held"].Known() || step.Status == triage.Settled {
			t.Fatalf("%s: step = %+v, want failed with unknown facts", name, step)
		}
	}
}

// A fact that its kind does not declare is dropped, and a gap says so: nothing
// that a runbook could be checked against tells what it means.
func TestAFactThatIsNotDeclaredIsAGap(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.stray = true
	s := st.start(t)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	step, _ := s.Snapshot().State.Step("test-lock/lock")
	want := []string{"could not record the fact owner, which test/lock does not declare: a fault in handrail itself"}
	if _, there := step.Facts["owner"]; there || !step.Facts["held"].Bool() || !slices.Equal(step.Gaps, want) {
		t.Errorf("step = %+v, want no fact owner and the gap %q", step, want)
	}
}

// image copies what a disk would hold if the machine stopped now.
func image(t *testing.T, st *stage, path string) (session.Config, string) {
	t.Helper()
	cfg := st.cfg
	dir := t.TempDir()
	for from, to := range map[string]*string{st.cfg.Dir: &cfg.Dir, st.cfg.Keys: &cfg.Keys, st.cfg.Acts: &cfg.Acts} {
		*to = filepath.Join(dir, filepath.Base(from))
		if err := os.CopyFS(*to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return cfg, filepath.Join(cfg.Dir, filepath.Base(path))
}

func TestResumeAfterACrash(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	cfg, path := image(t, st, s.Snapshot().Bundle)
	again, err := session.Resume(t.Context(), cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if want, got := s.Snapshot().State, again.Snapshot().State; !want.Equal(got) {
		t.Fatalf("resumed state differs: %+v, want %+v", got, want)
	}
}

func TestResumeFindsTheActThatACrashCutOff(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		land bool // the act took effect before the crash
		want triage.GatePhase
	}{{"not sent", false, triage.GateFailed}, {"took effect", true, triage.GateDone}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st, s := inAct(t)
			cfg, path := image(t, st, s.Snapshot().Bundle)
			if tc.land {
				close(st.w.acting)
				quiet(t, s)
			}
			again, err := session.Resume(t.Context(), cfg, path)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if g := again.Snapshot().State.Gates["test-lock/unlock"]; g.Phase != triage.GateUnknown {
				t.Errorf("gate = %s, want unknown", g.Phase)
			}
			// The slot that is here is a copy: who claimed the other one may yet begin.
			if err := again.Do(t.Context(), preview()); err == nil || !strings.Contains(err.Error(), "may still begin") {
				t.Errorf("Do(preview) = %v, want it too early", err)
			}
			st.clk.forward(4 * time.Minute)
			if err := again.Do(t.Context(), preview()); err != nil {
				t.Error(err)
			}
			g := again.Snapshot().State.Gates["test-lock/unlock"]
			if g.Phase != tc.want {
				t.Errorf("gate = %s (%s), want %s", g.Phase, g.Response, tc.want)
			}
			if tc.land != (len(again.Snapshot().State.Debts) == 1) {
				t.Errorf("debts = %+v", again.Snapshot().State.Debts)
			}
			if !tc.land {
				close(st.w.acting)
			}
		})
	}
}

func TestResumeTakesTheOutcomeThatTheExecutorLeft(t *testing.T) {
	t.Parallel()
	st, s := inAct(t)
	cfg, path := image(t, st, s.Snapshot().Bundle)
	close(st.w.acting)
	quiet(t, s)
	if err := os.CopyFS(cfg.Acts+".new", os.DirFS(st.cfg.Acts)); err != nil {
		t.Fatal(err)
	}
	cfg.Acts += ".new"
	again, err := session.Resume(t.Context(), cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if g := again.Snapshot().State.Gates["test-lock/unlock"]; g.Phase != triage.GateDone || g.Response != "unlocked" {
		t.Fatalf("gate = %s %q, want done from the outcome file", g.Phase, g.Response)
	}
}

func TestCloseWaitsForTheAct(t *testing.T) {
	t.Parallel()
	st, s := inAct(t)
	path := s.Snapshot().Bundle
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	close(st.w.acting)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	got, err := journal.LoadState(path)
	if err != nil || got.Gates["test-lock/unlock"].Phase != triage.GateDone {
		t.Fatalf("state = %v, %v; want the outcome of the act in the journal", got.Gates["test-lock/unlock"].Phase, err)
	}
}

func TestSecondHandrailIsTurnedAway(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	if _, err := session.Resume(t.Context(), st.cfg, s.Snapshot().Bundle); !errors.Is(err, disk.ErrLocked) {
		t.Fatalf("Resume() = %v, want ErrLocked", err)
	}
}
