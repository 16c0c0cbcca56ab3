package terraform

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/state"
)

// mended holds the gate of a restore where no program can read the state: the programs do not write over it, the gate
// does, with what was there kept first, and not over what was written between the look and the act.
func (r *lockRig) mended(t *testing.T) {
	t.Helper()
	w := r.w
	file, was := w.copyOfState()
	in := steps.Params{"file": steps.PathOf(file)}
	broken := map[string][]byte{"torn": was.Raw[:len(was.Raw)/2]}
	if r.backend != "local" && r.backend != "kubernetes" { // TestRestoreOverWhatCannotBeRead has more of these two
		broken["empty"] = nil
	}
	for name, raw := range broken {
		r.tear(raw)
		said, pushed := w.tofuSays("state", "push", "-force", file)
		if pushed == nil && len(raw) > 0 {
			t.Errorf("%s: the program writes over it by itself: %s", name, said)
		}
		if pushed == nil {
			continue // it takes nothing for no state
		}
		p := w.shows("restore-state", in)
		if len(p.Unmet) > 0 {
			t.Errorf("%s: restore-state is shut: %s", name, unmet(p))
			continue
		}
		if again := w.shows("restore-state", in); again.Digest("i", "s") != p.Digest("i", "s") {
			t.Errorf("%s: two previews differ in digest:\n%s\n%s", name, p.Request, again.Request)
		}
		if len(raw) > 0 && (p.Prior == nil || !bytes.Equal(p.Prior.Raw, raw)) {
			t.Errorf("%s: what is there is not kept first: %+v", name, p.Prior)
		}
		if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Failed {
			t.Errorf("%s: Find() before the act = %+v, %v, want failed", name, o, err)
		}
		overtaken := w.approve(p)
		r.tear([]byte(`{"of":"another writer"`))
		wantRefused(t, w.gate("restore-state"), overtaken, "not sent")
		r.tear(raw)
		p = w.shows("restore-state", in)
		if o := w.carry("restore-state", p); o.Result != steps.Done {
			t.Errorf("%s: restore-state = %+v", name, o)
			continue
		}
		if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Done {
			t.Errorf("%s: Find() after the act = %+v, %v, want done", name, o, err)
		}
		if now := w.ledger(); !state.Compare(was.Entries, now.Entries).None() || now.Doc.Lineage != was.Doc.Lineage || now.Doc.Serial <= was.Doc.Serial {
			t.Errorf("%s: restored serial %d, lineage %s, %v", name, now.Doc.Serial, now.Doc.Lineage, now.Entries)
		}
		if held := w.probe("terraform/lock", nil).Facts["held"]; held.Known() && held.Bool() {
			t.Errorf("%s: the lock is held after the restore", name)
		}
	}
	r.conditional(t, was.Raw)
}

// conditional holds the one write past the programs to its condition, which the server enforces: not over what another
// wrote after it was worked out, and not beside a run that took the lock since, where the lock is one to the server.
func (r *lockRig) conditional(t *testing.T, good []byte) {
	t.Helper()
	broken, other := good[:len(good)/3], good[:len(good)/2]
	workOut := func() backend.Repair {
		t.Helper()
		r.tear(broken)
		d, s, err := backend.OpenAt(t.Context(), r.w.env, nil, stepstest.NewSink())
		ok(t, err)
		now, _ := state.ReadLedger(t.Context(), s, func(string) {})
		if !now.Broken {
			t.Fatal("what is torn is not told from a state")
		}
		m, err := s.(backend.Repairer).Repair(t.Context(), d, backend.Found{Raw: now.Raw, Broken: true}, good, stepstest.NewSink())
		ok(t, err)
		for _, secret := range []string{"http-password", "lab-password"} {
			if strings.Contains(m.Request+m.Command, secret) {
				t.Errorf("the request shows a secret: %s", m.Request)
			}
		}
		return m
	}
	wantKept := func(m backend.Repair, want []byte, after string) {
		t.Helper()
		if said, err := m.Do(t.Context()); err == nil {
			t.Errorf("it was written after %s: %s", after, said)
		}
		_, s, err := backend.OpenAt(t.Context(), r.w.env, nil, stepstest.NewSink())
		ok(t, err)
		if now, _ := state.ReadLedger(t.Context(), s, func(string) {}); !bytes.Equal(now.Raw, want) {
			t.Errorf("after %s, what another wrote is gone: %.80q", after, now.Raw)
		}
	}
	m := workOut()
	r.tear(other)
	wantKept(m, other, "the write of another")
	if r.hold != nil {
		m = workOut()
		letGo := r.hold()
		wantKept(m, broken, "a run took the lock")
		letGo()
	}
	if said, err := workOut().Do(t.Context()); err != nil {
		t.Errorf("Do() = %q, %v", said, err)
	}
	if now := r.w.ledger(); !bytes.Equal(now.Raw, good) {
		t.Errorf("the state is not what was to be written: %.80q", now.Raw)
	}
	name := filepath.Join(t.TempDir(), "good.json") // a run goes on from it
	ok(t, os.WriteFile(name, good, 0o600))
	r.w.run("plan", "-input=false")
}
