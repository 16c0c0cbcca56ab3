package session_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/session"
	"handrail/steps"
	"handrail/triage"
)

// holds reports which files below the directories hold a text.
func holds(t *testing.T, text string, dirs ...string) (in []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
				return nil
			}
			if err != nil {
				return err
			}
			b, err := os.ReadFile(name)
			if strings.Contains(string(b), text) {
				in = append(in, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// What a gate learned to be secret before a crash is hidden by the session that
// resumes, wherever it turns up.
func TestResumeKnowsWhatWasLearned(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		st := newStage(t)
		st.w.secret = leaked
		s := st.start(t)
		ready(t, s)
		do(t, s, preview())
		cfg, path := image(t, st, s.Snapshot().Bundle)
		if lost {
			if err := os.Remove(filepath.Join(cfg.Keys, strings.TrimSuffix(filepath.Base(path), ".hrb")+".known")); err != nil {
				t.Fatal(err)
			}
		}
		told := map[string]bool{}
		cfg.Learned = func(v string) { told[v] = true }
		again, err := session.Resume(t.Context(), cfg, path)
		if err != nil {
			t.Fatal(err)
		}
		if said := holds(t, "earlier steps are lost", path) != nil; said != lost || told[leaked] == lost {
			t.Errorf("lost %v: said so is %v, told beside is %v", lost, said, told[leaked])
		}
		if !lost {
			st.w.lock = "of " + leaked
			do(t, again, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
			if in := holds(t, leaked, cfg.Dir, cfg.Keys, cfg.Acts); in != nil {
				t.Errorf("stored in clear in %q", in)
			}
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// teller is a gate that learns a secret only while it acts.
type teller struct{ steps.Gater }

func (g teller) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	out.Secret(leaked)
	out.(steps.SchemaSink).Sensitive(map[string][]string{"acme_db": {"connection"}})
	return g.Gater.Act(ctx, a, out)
}

// What an act learns in its own process is known to the session from then on.
func TestSessionKnowsWhatItsActLearned(t *testing.T) {
	t.Parallel()
	st, _ := newAfar(t)
	st.cfg.Catalog = telling{st.w}
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, confirm())
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateDone {
		t.Fatalf("gate = %s %s", g.Phase, g.Response)
	}
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "it said " + leaked})
	if in := holds(t, leaked, st.cfg.Dir, st.cfg.Keys, st.cfg.Acts); in != nil {
		t.Errorf("stored in clear in %q", in)
	}
}

// telling is the world with that gate.
type telling struct{ *world }

func (w telling) Kinds() []steps.Kind {
	out := w.world.Kinds()
	for i := range out {
		if was := out[i].Changes; was != nil {
			out[i].Changes = func(e steps.Env) steps.Gater { return teller{was(e)} }
		}
	}
	return out
}

func (w telling) Lookup(name string) (steps.Kind, bool) {
	for _, k := range w.Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return steps.Kind{}, false
}
