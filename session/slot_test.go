package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"

	"handrail/session"
	"handrail/session/claim"
	"handrail/steps"
	"handrail/triage"
)

// cutAct is an incident whose handrail was killed once its act was ordered: no
// executor has looked at the order yet.
func cutAct(t *testing.T) (*stage, session.Order) {
	t.Helper()
	st := newStage(t)
	orders := make(chan session.Order, 1)
	never := make(chan struct{})
	st.cfg.Execute = func(_ steps.Env, o session.Order) (<-chan struct{}, error) {
		orders <- o
		return never, nil
	}
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	if err := s.Do(t.Context(), confirm()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	st.cfg.Execute = nil
	return st, <-orders
}

// killed is an executor that was killed: claimed, and not held.
func killed(t *testing.T, c session.Config, o session.Order) {
	t.Helper()
	dir := slotOf(c, o)
	if err := os.Rename(filepath.Join(dir, "slot"), filepath.Join(dir, "claim")); err != nil {
		t.Fatal(err)
	}
}

// The points at which handrail, its executor or both can be cut off once the
// executor is ordered.
var cuts = map[string]func(*testing.T, *stage, session.Order){
	"ordered": func(*testing.T, *stage, session.Order) {},
	"claimed": func(t *testing.T, st *stage, o session.Order) { killed(t, st.cfg, o) },
	"acted": func(t *testing.T, st *stage, o session.Order) {
		killed(t, st.cfg, o)
		st.w.lock, st.w.acts = "", 1
	},
	"outcome half left": func(t *testing.T, st *stage, o session.Order) {
		killed(t, st.cfg, o)
		put(t, filepath.Join(slotOf(st.cfg, o), "outcome.tmp"), `{"end":{"outcome":"done"`)
		st.w.lock, st.w.acts = "", 1
	},
	"outcome left": func(t *testing.T, st *stage, o session.Order) {
		if err := session.Carry(t.Context(), st.cfg, o); err != nil {
			t.Fatal(err)
		}
	},
}

// The places where an incident in mid-act can be resumed; true where the slot of
// its act is the very one.
var places = map[string]struct {
	move func(*testing.T, *stage, *session.Config, *string)
	very bool
}{
	"where it was":    {func(*testing.T, *stage, *session.Config, *string) {}, true},
	"a copied bundle": {func(t *testing.T, _ *stage, _ *session.Config, path *string) { *path = copied(t, *path) }, true},
	"a moved state":   {func(t *testing.T, _ *stage, c *session.Config, path *string) { movedState(t, c, path) }, true},
	"a copied state":  {func(t *testing.T, _ *stage, c *session.Config, _ *string) { c.Acts = copied(t, c.Acts) }, false},
	"another state":   {func(t *testing.T, _ *stage, c *session.Config, _ *string) { c.Acts = t.TempDir() + "/acts" }, false},
	"another machine": {func(_ *testing.T, st *stage, _ *session.Config, _ *string) {
		st.at.set(func(m *claim.Machine) { m.ID, m.Boot = "m-2", "b-2" })
	}, false},
	"its clone": {func(_ *testing.T, st *stage, _ *session.Config, _ *string) {
		st.at.set(func(m *claim.Machine) { m.ID = "m-2" })
	}, false},
	"after a start": {func(_ *testing.T, st *stage, _ *session.Config, _ *string) {
		st.at.set(func(m *claim.Machine) { m.Boot, m.Up = "b-2", 1 })
	}, false},
	"an unknown machine": {func(_ *testing.T, _ *stage, c *session.Config, _ *string) { c.Machine = nil }, false},
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func movedState(t *testing.T, c *session.Config, path *string) {
	t.Helper()
	to := filepath.Join(filepath.Dir(c.Acts), "moved")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []*string{&c.Acts, &c.Dir} {
		now := filepath.Join(to, filepath.Base(*dir))
		if err := os.Rename(*dir, now); err != nil {
			t.Fatal(err)
		}
		*dir = now
	}
	*path = filepath.Join(c.Dir, filepath.Base(*path))
}

// TestResumeOfAnActThatWasCutOff: only the very slot of the act, unclaimed on the
// machine where it was made, proves that nothing was sent, and then nothing can be
// sent any more. Everything else is unknown, unless the outcome is there.
func TestResumeOfAnActThatWasCutOff(t *testing.T) {
	t.Parallel()
	for cut, reach := range cuts {
		for place, p := range places {
			t.Run(cut+", resumed in "+place, func(t *testing.T) {
				t.Parallel()
				st, o := cutAct(t)
				reach(t, st, o)
				acts := st.w.acts
				here, path := st.cfg, o.Bundle
				p.move(t, st, &here, &path)
				s, err := session.Resume(t.Context(), here, path)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				g := quiet(t, s).State.Gates[gateID]
				want := triage.GateUnknown
				switch {
				case cut == "outcome left" && place != "another state":
					want = triage.GateDone
				case cut == "ordered" && p.very:
					want = triage.GateRefused
				}
				if g.Phase != want || (want == triage.GateRefused) != strings.HasPrefix(g.Response, "nothing was sent") {
					t.Fatalf("gate = %s, %q, want %s", g.Phase, g.Response, want)
				}
				_ = session.Carry(t.Context(), st.cfg, o) // the executor was slow, and begins now
				if want == triage.GateRefused && st.w.acts != 0 {
					t.Error("nothing was sent, it said, and then it was")
				}
				if cut != "ordered" && st.w.acts != acts {
					t.Error("the act was carried out twice")
				}
				err = s.Do(t.Context(), preview())
				switch refusedYet := err != nil && strings.Contains(err.Error(), "may still begin"); {
				case want == triage.GateRefused && err != nil:
					t.Errorf("the gate cannot be opened again: %v", err)
				case want == triage.GateUnknown && refusedYet == p.very:
					t.Errorf("Do(preview) = %v, want it refused only while the act may begin elsewhere", err)
				}
			})
		}
	}
}

// TestCutBeforeTheActIsRecorded: a slot that no entry tells of hinders nothing.
func TestCutBeforeTheActIsRecorded(t *testing.T) {
	t.Parallel()
	st, o := cutAct(t)
	s, err := session.Resume(t.Context(), st.cfg, uncut(t, o.Bundle, o.Seq-1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateIdle {
		t.Fatalf("gate = %s, want it disarmed", g.Phase)
	}
	do(t, s, preview())
	do(t, s, confirm())
	if st.w.acts != 1 {
		t.Errorf("%d acts, want 1", st.w.acts)
	}
}

// TestCopiesThatAreResumedTogether: two copies of an incident in mid-act and its
// executor at once: an answer that nothing was sent stays right.
func TestCopiesThatAreResumedTogether(t *testing.T) {
	t.Parallel()
	for range rounds(15) {
		st, o := cutAct(t)
		paths := []string{o.Bundle, copied(t, o.Bundle)}
		phases := make([]triage.GatePhase, len(paths))
		var all sync.WaitGroup
		all.Go(func() { _ = session.Carry(t.Context(), st.cfg, o) })
		for i, path := range paths {
			all.Go(func() {
				s, err := session.Resume(t.Context(), st.cfg, path)
				if err != nil {
					t.Error(err)
					return
				}
				phases[i] = quiet(t, s).State.Gates[gateID].Phase
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, p := range phases {
			if p == triage.GateRefused && st.w.acts != 0 || p == triage.GateDone && st.w.acts != 1 || p == triage.GateIdle {
				t.Errorf("%v after %d acts", phases, st.w.acts)
			}
		}
	}
}

// TestRenamedBundleIsNotResumed: acts, keys and plans are found by the name of the
// incident.
func TestRenamedBundleIsNotResumed(t *testing.T) {
	t.Parallel()
	st, o := cutAct(t)
	to := filepath.Join(filepath.Dir(o.Bundle), "20260101-000000-test-lock-aaaa.hrb")
	if err := os.Rename(o.Bundle, to); err != nil {
		t.Fatal(err)
	}
	_, err := session.Resume(t.Context(), st.cfg, to)
	var renamed *session.RenamedError
	if !errors.As(err, &renamed) || renamed.Want != filepath.Base(o.Bundle) || renamed.Path != to {
		t.Fatalf("Resume() = %v, want it refused with the name that it should have", err)
	}
	if err := os.Rename(to, o.Bundle); err != nil {
		t.Fatal(err)
	}
	s, err := session.Resume(t.Context(), st.cfg, o.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateRefused {
		t.Errorf("gate = %s, want it known that nothing was sent", g.Phase)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestActWithoutItsSlot: an executor that finds none makes none, and acts not.
func TestActWithoutItsSlot(t *testing.T) {
	t.Parallel()
	st, o := cutAct(t)
	slot := filepath.Join(slotOf(st.cfg, o), "slot")
	if err := os.Remove(slot); err != nil {
		t.Fatal(err)
	}
	if err := session.Carry(t.Context(), st.cfg, o); err == nil || st.w.acts != 0 {
		t.Errorf("Carry() = %v after %d acts, want none", err, st.w.acts)
	}
	if _, err := os.Lstat(slot); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a slot was made: %v", err)
	}
}

// TestSlotThatCannotBeMade: without a slot there is no act.
func TestSlotThatCannotBeMade(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	incident := filepath.Join(st.cfg.Acts, s.Snapshot().State.Incident)
	if err := os.WriteFile(incident, nil, 0o600); err != nil { // where its directory would be
		t.Fatal(err)
	}
	refusals(t, s.Do(t.Context(), confirm()), "making the slot of the act")
	if g := s.Snapshot().State.Gates[gateID]; g.StartSeq != 0 || st.w.acts != 0 {
		t.Errorf("gate = %+v after %d acts, want no act", g.Phase, st.w.acts)
	}
}

// TestResumeWhileTheActIsBeingClaimed: an executor has the slot locked, and has not
// said yet that it is the claim, or which process it is.
func TestResumeWhileTheActIsBeingClaimed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"slot", "claim"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, o := cutAct(t)
			if name == "claim" {
				killed(t, st.cfg, o)
			}
			l := flock.New(filepath.Join(slotOf(st.cfg, o), name))
			if err := l.Lock(); err != nil {
				t.Fatal(err)
			}
			s, err := session.Resume(t.Context(), st.cfg, o.Bundle)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateActing {
				t.Errorf("gate = %s %q, want it acting", g.Phase, g.Response)
			}
			if err := l.Close(); err != nil { // it was killed there
				t.Fatal(err)
			}
			want := map[string]triage.GatePhase{"slot": triage.GateRefused, "claim": triage.GateUnknown}[name]
			if g := quiet(t, s).State.Gates[gateID]; g.Phase != want {
				t.Errorf("gate = %s %q, want %s", g.Phase, g.Response, want)
			}
		})
	}
}
