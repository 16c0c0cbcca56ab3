package session_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/session"
	"handrail/steps"
	"handrail/triage"
)

// afar carries out orders as another process would: it is not waited for, and
// knows nothing but its orders and what is on the disk.
type afar struct {
	t      *testing.T
	st     *stage
	refuse error              // it cannot be started
	stray  bool               // it ends before it begins
	ended  chan struct{}      // of the newest one
	orders chan session.Order // what was ordered
}

func (a *afar) execute(_ steps.Env, o session.Order) (<-chan struct{}, error) {
	if a.refuse != nil {
		return nil, a.refuse
	}
	a.ended = make(chan struct{})
	a.orders <- o
	ended := a.ended
	c := a.st.cfg
	c.Execute = nil
	go func() {
		defer close(ended)
		if !a.stray {
			_ = session.Carry(a.t.Context(), c, o)
		}
	}()
	return ended, nil
}

func newAfar(t *testing.T) (*stage, *afar) {
	st := newStage(t)
	a := &afar{t: t, st: st, orders: make(chan session.Order, 4)}
	st.cfg.Execute = a.execute
	return st, a
}

// TestActGoesOnWithoutItsSession: the session lets go of an act that runs; one
// that resumes meanwhile finds it running, and records its end as it came.
func TestActGoesOnWithoutItsSession(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"while it runs", "after its end"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			st, a := newAfar(t)
			st.w.acting, st.w.started = make(chan struct{}), make(chan struct{})
			s := st.start(t)
			ready(t, s)
			do(t, s, preview())
			if err := s.Do(t.Context(), confirm()); err != nil {
				t.Fatal(err)
			}
			<-st.w.started
			if err := s.Close(); err != nil { // it would wait for ever
				t.Fatal(err)
			}
			if when == "after its end" {
				close(st.w.acting)
				<-a.ended
			}
			again, err := session.Resume(t.Context(), st.cfg, s.Snapshot().Bundle)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if when == "while it runs" {
				snap := again.Snapshot()
				if len(snap.Running) != 1 || !snap.Running[0].Act || snap.State.Gates[gateID].Phase != triage.GateActing {
					t.Fatalf("resumed with %+v running and the gate %s, want the act", snap.Running, snap.State.Gates[gateID].Phase)
				}
				close(st.w.acting)
			}
			quiet(t, again)
			snap := again.Snapshot()
			if g := snap.State.Gates[gateID]; g.Phase != triage.GateDone || g.Response != "unlocked" || g.Found {
				t.Fatalf("gate = %s %q, found %v, want the outcome as it came", g.Phase, g.Response, g.Found)
			}
			if st.w.acts != 1 || len(snap.State.Debts) != 1 {
				t.Errorf("%d acts, debts %+v, want one of each", st.w.acts, snap.State.Debts)
			}
			o := <-a.orders
			if err := session.Carry(t.Context(), st.cfg, o); err == nil || st.w.acts != 1 {
				t.Errorf("the same order was carried out again: %v, %d acts", err, st.w.acts)
			}
		})
	}
}

// TestExecutorThatNeverBegins: nothing was sent, and that is known.
func TestExecutorThatNeverBegins(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*afar){
		"cannot be started":    func(a *afar) { a.refuse = errors.New("no more processes") },
		"ends before it began": func(a *afar) { a.stray = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, a := newAfar(t)
			set(a)
			s := st.start(t)
			ready(t, s)
			do(t, s, preview())
			do(t, s, confirm())
			g := s.Snapshot().State.Gates[gateID]
			if g.Phase != triage.GateRefused || !strings.Contains(g.Response, "nothing was sent") || st.w.acts != 0 {
				t.Fatalf("gate = %s %q after %d acts, want it known that nothing was sent", g.Phase, g.Response, st.w.acts)
			}
			if a.stray { // a straggler finds the act taken
				if err := session.Carry(t.Context(), st.cfg, <-a.orders); err == nil || st.w.acts != 0 {
					t.Errorf("a late executor acted: %v", err)
				}
			}
		})
	}
}

// TestExecutorConfirmsForItself: what moved after the session's own re-read, or
// an order that the journal does not know, ends with nothing sent.
func TestExecutorConfirmsForItself(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*stage, *session.Order){
		"as ordered":       func(*stage, *session.Order) {},
		"the target moved": func(st *stage, _ *session.Order) { st.w.lock = "another" },
		"another phrase":   func(_ *stage, o *session.Order) { o.Phrase = "y" },
		"another digest":   func(_ *stage, o *session.Order) { o.Digest = strings.Repeat("0", 64) },
		"another step":     func(_ *stage, o *session.Order) { o.Step = "test-lock/lock" },
		"another entry":    func(_ *stage, o *session.Order) { o.Seq-- },
		"other undo": func(st *stage, o *session.Order) {
			o.Prior = strings.Repeat("ab", 32)
			st.w.prior = &steps.Prior{Media: steps.MediaText, Raw: []byte("x")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, a := newAfar(t)
			a.stray = true
			s := st.start(t)
			ready(t, s)
			do(t, s, preview())
			if err := s.Do(t.Context(), confirm()); err != nil {
				t.Fatal(err)
			}
			o := <-a.orders
			quiet(t, s)
			// As if the session had been cut off before: with its end the act would be over.
			c := st.cfg
			o.Bundle = uncut(t, o.Bundle, s.Snapshot().State.Gates[gateID].StartSeq)
			unclaimed(t, c, o)
			set(st, &o)
			if err := session.Carry(t.Context(), c, o); err != nil {
				t.Fatal(err)
			}
			want := 0
			if name == "as ordered" {
				want = 1
			}
			if st.w.acts != want {
				t.Fatalf("%d acts, want %d", st.w.acts, want)
			}
		})
	}
}

// uncut is a copy of a bundle as it was at an entry.
func uncut(t *testing.T, path string, seq int64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.CopyFS(dir, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "journal", "000001.jsonl")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:seq+1], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// slotOf is the directory of the act of an order.
func slotOf(c session.Config, o session.Order) string {
	return filepath.Join(c.Acts, strings.TrimSuffix(filepath.Base(o.Bundle), ".hrb"), o.Nonce)
}

// unclaimed puts the slot of an act back as it was made.
func unclaimed(t *testing.T, c session.Config, o session.Order) {
	t.Helper()
	dir := slotOf(c, o)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "slot"), []byte(o.Nonce+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestGateSaysWhatEndsItsAct: where an act cannot be taken out of what it was
// ordered in, who confirms it knows.
func TestGateSaysWhatEndsItsAct(t *testing.T) {
	t.Parallel()
	for _, drill := range []string{"", "killed-runner-1"} {
		st := newStage(t)
		st.cfg.Fragile = func(context.Context) string { return "the end of this login may end the act" }
		s, err := session.Start(t.Context(), st.cfg, session.Begin{Runbook: st.rb, Drill: drill})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ready(t, s)
		do(t, s, preview())
		said := steps.Find(s.Snapshot().Gate.Preview.Shown, "can be cut off")
		if (said != "") != (drill == "") {
			t.Errorf("in drill %q the gate says %q", drill, said)
		}
		do(t, s, confirm())
		if st.w.acts != 1 {
			t.Errorf("%d acts, want 1", st.w.acts)
		}
	}
}
