package session_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/evidence"
	"handrail/session"
	"handrail/session/audit"
	"handrail/session/journal"
	"handrail/triage"
)

func TestAnchorsAreDueAroundGates(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	due := func(want string) string {
		t.Helper()
		a := s.Snapshot().Anchor
		if a.Due != want {
			t.Errorf("due = %q, want %q", a.Due, want)
		}
		return a.Line
	}
	first := due("the incident is open")
	ready(t, s)
	if err := s.Anchored(t.Context(), first, "#incident-7"); err != nil { // an earlier line is as good
		t.Fatal(err)
	}
	due("")
	do(t, s, preview())
	armed := due("gate test-lock/unlock was armed")
	if err := s.Anchored(t.Context(), armed[:len(armed)-4]+"AAA=", "#incident-7"); err == nil {
		t.Error("a line that the journal does not bear out was recorded")
	}
	if err := s.Anchored(t.Context(), armed, "#incident-7"); err != nil {
		t.Fatal(err)
	}
	do(t, s, confirm()) // the anchor in between leaves the gate armed
	after := due("the act of test-lock/unlock ended")
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var p evidence.Policy
	for _, line := range []string{first, armed, after} {
		c, err := evidence.ParseAnchor(line)
		if err != nil {
			t.Fatal(err)
		}
		p.Anchors = append(p.Anchors, c)
	}
	if r, err := p.Verify(path); err != nil || !r.OK() {
		t.Errorf("Verify = %+v, %v", r.Lines, err)
	}
}

func TestSealNamesWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	state, path := s.Snapshot().State, s.Snapshot().Bundle
	one, err := s.Seal(t.Context())
	if err != nil || one.Number != 1 {
		t.Fatalf("Seal = %+v, %v", one, err)
	}
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "and on"}) // reopens
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := session.Config{Now: time.Now, Actor: triage.Person{ID: "robin"}, Version: "test"}
	for i, before := range []bool{false, true} {
		two, err := session.Seal(t.Context(), c, path)
		if err != nil || two.Number != 2 || two.Before != before {
			t.Fatalf("Seal %d = %+v, %v", i, two, err)
		}
	}
	want := journal.Skipped(state)
	if !slices.Contains(want, "test-lock/unlock") {
		t.Fatalf("left out: %q, want the gate among them", want)
	}
	for _, e := range entriesOf(t, path) {
		if e.Type != "seal" {
			continue
		}
		if got, err := evidence.SkippedIn(e); err != nil || !slices.Equal(got, want) {
			t.Errorf("the seal says %q, %v; want %q", got, err, want)
		}
	}
	if rep, err := audit.Bundle(path, st.w, audit.Verifier{}); err != nil || !rep.OK() {
		t.Errorf("Audit = %+v, %v", rep.Lines, err)
	}
}

// TestLiveSealTakesLeaveOfKey: the incident goes on after its seal, with another key and as before.
func TestLiveSealTakesLeaveOfKey(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	key := filepath.Join(st.cfg.Keys, idOf(s.Snapshot().Bundle)+".key")
	was, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "password=plover-egg-twice"})
	if got, err := s.Seal(t.Context()); err != nil || got.Key != "destroyed" {
		t.Fatalf("Seal = %+v, %v", got, err)
	}
	if _, err := os.Stat(key); err == nil {
		t.Error("the key is there still")
	}
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "password=plover-egg-twice"})
	do(t, s, preview())
	do(t, s, confirm())
	now, err := os.ReadFile(key)
	if err != nil || string(now) == string(was) {
		t.Errorf("the key is the old one, or %v", err)
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range entriesOf(t, path) {
		if strings.Contains(string(e.Data), "plover-egg") || strings.Contains(string(e.Data), "forged-redacted") {
			t.Errorf("entry %d: %s", e.Seq, e.Data)
		}
	}
	if rep, err := audit.Bundle(path, st.w, audit.Verifier{}); err != nil || !rep.OK() {
		t.Errorf("Audit = %+v, %v", rep.Lines, err)
	}
}

func entriesOf(t *testing.T, path string) []evidence.Entry {
	t.Helper()
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []evidence.Entry
	for e, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// forged writes the entries of an honest incident again, changed: its bytes verify, its story may not.
func forged(t *testing.T, path string, change func([]evidence.Entry) []evidence.Entry, seal []string) string {
	t.Helper()
	var at time.Time
	b, err := evidence.Create(t.TempDir(), idOf(path), evidence.Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, e := range change(entriesOf(t, path)) {
		if at, err = e.Time(); err != nil {
			t.Fatal(err)
		}
		if e.Type == "env" {
			continue
		}
		for _, blob := range e.Blobs {
			copyBlob(t, r, b, blob)
		}
		if _, err := b.Append(context.Background(), evidence.Draft{Type: e.Type, Actor: e.Actor, Step: e.Step, Data: json.RawMessage(e.Data), Blobs: e.Blobs}); err != nil {
			t.Fatal(err)
		}
	}
	if seal != nil {
		if _, err := b.Seal(context.Background(), "mallory", seal); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Path()
}

func copyBlob(t *testing.T, r *evidence.Reader, b *evidence.Bundle, blob evidence.Blob) {
	t.Helper()
	in, err := r.OpenBlob(blob.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := b.Blob(blob.Role, blob.Media)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	for {
		n, rerr := in.Read(buf)
		if _, err := out.Write(buf[:n]); err != nil {
			t.Fatal(err)
		}
		if rerr != nil {
			break
		}
	}
	if _, err := out.Commit(); err != nil {
		t.Fatal(err)
	}
}

func idOf(path string) string {
	base := filepath.Base(path)
	return base[:len(base)-len(".hrb")]
}

// TestAuditOfForgedJournals: bytes that verify are not enough; a story that breaks the laws of the loop fails.
func TestAuditOfForgedJournals(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, confirm())
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	drop := func(types ...string) func([]evidence.Entry) []evidence.Entry {
		return func(l []evidence.Entry) []evidence.Entry {
			return slices.DeleteFunc(l, func(e evidence.Entry) bool { return slices.Contains(types, e.Type) })
		}
	}
	for _, tc := range []struct {
		name     string
		change   func([]evidence.Entry) []evidence.Entry
		seal     []string
		property string // that must fail, "" for none
	}{
		{name: "honest", change: drop()},
		{name: "an act without the gate shown", change: drop("gate.shown"), property: "loop"},
		{name: "an act without its confirmation", change: drop("gate.answered"), property: "loop"},
		{name: "an act without any gate", change: drop("gate.shown", "gate.answered"), property: "loop"},
		{name: "an act without its evidence", change: drop("probe.end"), property: "loop"},
		{name: "an end without its beginning", change: drop("act.start"), property: "loop"},
		{name: "an act without its end, sealed", change: drop("act.end", "debt"), seal: []string{}, property: "acts"},
		{name: "an act in an incident that goes on", change: drop("act.end", "debt")},
		{name: "no plan", change: drop("plan"), property: "loop"},
		{name: "a seal that hides what was left out", change: drop(), seal: []string{}, property: "left out"},
		{name: "a seal that names what was done", change: drop(), seal: []string{"test-lock/unlock"}, property: "left out"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			made := forged(t, path, tc.change, tc.seal)
			if r, err := evidence.Verify(made); err != nil || !r.OK() {
				t.Fatalf("the bytes should verify: %+v, %v", r.Lines, err)
			}
			rep, err := audit.Bundle(made, st.w, audit.Verifier{})
			if err != nil {
				t.Fatal(err)
			}
			var bad []string
			for _, l := range rep.Lines {
				if !l.OK {
					bad = append(bad, l.Property)
				}
			}
			if tc.property == "" && len(bad) > 0 || tc.property != "" && !slices.Contains(bad, tc.property) {
				t.Errorf("failed %q, want %q: %+v", bad, tc.property, rep.Lines)
			}
		})
	}
}
