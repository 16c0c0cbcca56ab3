package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/session/replay"
	"handrail/triage"
)

// walkedBundle is an incident with a gate that was shown, answered and acted.
func walkedBundle(t *testing.T) (*stage, string, triage.State) {
	t.Helper()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	if err := s.Do(t.Context(), preview()); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(t.Context(), confirm()); err != nil {
		t.Fatal(err)
	}
	quiet(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return st, s.Snapshot().Bundle, s.Snapshot().State
}

func TestReplayShowsEachEntryAsItWas(t *testing.T) {
	t.Parallel()
	st, path, want := walkedBundle(t)
	r, err := replay.Open(path, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	at, last := r.Place()
	if at != 0 || int64(last) != want.Seq || r.Ends() != "" {
		t.Fatalf("place %d of %d, ends %q, want 0 of %d and to its end", at, last, r.Ends(), want.Seq)
	}
	forward := map[int]string{}
	gates := 0
	for i := 0; i <= last; i++ {
		r.Go(i)
		snap := r.Snapshot()
		if snap.State.Seq != int64(i) || r.Recorded().Seq != int64(i) || r.Recorded().Text == "" {
			t.Fatalf("entry %d shows state %d and says %+v", i, snap.State.Seq, r.Recorded())
		}
		forward[i] = triage.Digest(snap.State)
		switch rec := r.Recorded(); rec.Type {
		case "gate.shown":
			gates++
			if snap.Gate == nil || snap.Gate.Phase != triage.GateArmed || snap.Gate.Preview.Phrase == "" || len(snap.Gate.Preview.Target) == 0 {
				t.Errorf("entry %d shows the gate %+v", i, snap.Gate)
			}
		case "gate.answered":
			if rec.Typed != snap.Gate.Preview.Phrase {
				t.Errorf("entry %d says that %q was typed", i, rec.Typed)
			}
		case "act.start":
			if len(snap.Running) != 1 || !snap.Running[0].Act || snap.State.Acting == "" {
				t.Errorf("entry %d shows no act: %+v", i, snap.Running)
			}
		}
	}
	if gates == 0 {
		t.Error("no gate was shown")
	}
	if got := r.Snapshot().State; triage.Digest(got) != triage.Digest(want) {
		t.Error("the last entry does not show the state that the session had")
	}
	for i := last; i >= 0; i-- {
		if r.Go(i); triage.Digest(r.Snapshot().State) != forward[i] {
			t.Errorf("entry %d looks otherwise on the way back", i)
		}
	}
	r.Go(last + 10)
	if at, _ := r.Place(); at != last {
		t.Errorf("beyond the end is entry %d, want %d", at, last)
	}
}

func TestReplayCanDoNothing(t *testing.T) {
	t.Parallel()
	st, path, _ := walkedBundle(t)
	before := files(t, path)
	r, err := replay.Open(path, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	_, last := r.Place()
	acts := st.w.acts
	reads := st.w.reads
	for i := 0; i <= last; i++ {
		r.Go(i)
		for _, in := range []triage.Intent{preview(), confirm(), {Kind: triage.DoProbe, Step: "test-lock/lock"}, {Kind: triage.DoNote, Text: "x"}, {Kind: triage.DoClose, Value: "aborted"}} {
			var refused *triage.Refused
			if err := r.Do(t.Context(), in); !errors.As(err, &refused) || len(refused.Refusals) == 0 {
				t.Fatalf("entry %d: Do(%s) = %v, want a refusal", i, in.Kind, err)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if st.w.acts != acts || st.w.reads != reads {
		t.Error("a replay reached the world")
	}
	if diff := cmp.Diff(before, files(t, path)); diff != "" {
		t.Errorf("a replay changed the bundle (-before +after):\n%s", diff)
	}
}

// files are the names and contents of a bundle.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is wrong with a bundle ends its replay, and says so.
func TestReplayOfADamagedBundle(t *testing.T) {
	t.Parallel()
	st, path, _ := walkedBundle(t)
	name := filepath.Join(path, "journal", "000001.jsonl")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	cut := strings.Join(lines[:5], "") + strings.Replace(lines[5], `"seq":5`, `"seq":6`, 1) + strings.Join(lines[6:], "")
	if err := os.WriteFile(name, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := replay.Open(path, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	if _, last := r.Place(); last != 4 || r.Ends() == "" {
		t.Errorf("the replay ends at %d because %q, want 4 and a reason", last, r.Ends())
	}
	if err := os.WriteFile(name, []byte("nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Open(path, looking(st.cfg)); err == nil {
		t.Error("a bundle without a readable entry is replayed")
	}
}
