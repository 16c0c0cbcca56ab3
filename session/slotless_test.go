package session_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"handrail/evidence"
	"handrail/session"
	"handrail/triage"
)

// TestJournalOfBeforeSlots: a record that names no slot proves nothing; what an
// executor of then left, or still does, is found where it was then.
func TestJournalOfBeforeSlots(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		left func(*testing.T, string, session.Order)
		want triage.GatePhase
	}{
		"nothing is there": {func(*testing.T, string, session.Order) {}, triage.GateUnknown},
		"it was killed": {func(t *testing.T, dir string, _ session.Order) {
			put(t, filepath.Join(dir, "claim"), "1\n")
		}, triage.GateUnknown},
		"it ended": {func(t *testing.T, dir string, o session.Order) {
			put(t, filepath.Join(dir, "claim"), "1\n")
			end, err := json.Marshal(map[string]any{"end": triage.ActEnd{Step: o.Step, Digest: o.Digest, Outcome: "done", Response: "unlocked"}})
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "outcome.json"), string(end))
		}, triage.GateDone},
		"it goes on": {func(t *testing.T, dir string, _ session.Order) {
			put(t, filepath.Join(dir, "claim"), "1\n")
			l := flock.New(filepath.Join(dir, "claim"))
			if err := l.Lock(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}, triage.GateActing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, o := cutAct(t)
			c := st.cfg
			c.Dir, c.Keys = t.TempDir(), t.TempDir()
			seq, path := slotless(t, c, o.Bundle)
			if err := os.RemoveAll(c.Acts); err != nil {
				t.Fatal(err)
			}
			tc.left(t, filepath.Join(c.Acts, strings.TrimSuffix(filepath.Base(path), ".hrb"), strconv.FormatInt(seq, 10)), o)
			s, err := session.Resume(t.Context(), c, path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if g := s.Snapshot().State.Gates[gateID]; g.Phase != tc.want || g.Slot != nil {
				t.Errorf("gate = %s %q, want %s", g.Phase, g.Response, tc.want)
			}
		})
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// slotless writes a bundle anew as a handrail without slots would have, and says
// which entry began its act.
func slotless(t *testing.T, c session.Config, path string) (seq int64, to string) {
	t.Helper()
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	id := strings.TrimSuffix(filepath.Base(path), ".hrb")
	b, err := evidence.Create(c.Dir, id, evidence.Options{Now: c.Now, Keys: c.Keys, Version: "old"})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains([]string{"env", "checkpoint", "reveal", "recover", "seal", "reopen"}, e.Type) {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		delete(data, "slot")
		var blobs []evidence.Blob
		for _, was := range e.Blobs {
			from, err := r.OpenBlob(was.SHA256)
			if err != nil {
				t.Fatal(err)
			}
			w, err := b.Blob(was.Role, was.Media)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(w, from); err != nil {
				t.Fatal(err)
			}
			now, err := w.Commit()
			if err != nil {
				t.Fatal(err)
			}
			blobs = append(blobs, now)
		}
		got, err := b.Append(t.Context(), evidence.Draft{Type: e.Type, Actor: e.Actor, Step: e.Step, Data: data, Blobs: blobs})
		if err != nil {
			t.Fatal(err)
		}
		seq = got.Seq // act.start is the last one
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return seq, filepath.Join(c.Dir, id+".hrb")
}
