package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/evidence"
	"handrail/session/audit"
	"handrail/triage"
)

// TestAuditFindsForgedApprovals writes journals by hand: the chain holds, the
// approval does not.
func TestAuditFindsForgedApprovals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change   func(a *triage.Approve)
		property string
	}{
		"as it was":      {func(*triage.Approve) {}, ""},
		"another text":   {func(a *triage.Approve) { a.Signed = a.Signed.Add(time.Second) }, "second person"},
		"another key":    {func(a *triage.Approve) { a.Key = "SHA256:other" }, "second person"},
		"no signature":   {func(a *triage.Approve) { a.Sig = "yes" }, "second person"},
		"the operator":   {func(a *triage.Approve) { a.Person = "op" }, "loop"},
		"none at all":    {nil, "loop"},
		"another gate's": {func(a *triage.Approve) { a.Digest = strings.Repeat("0", 64) }, "loop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDuo(t)
			s := d.start(t)
			ready(t, s)
			do(t, s, preview())
			do(t, s, approve(replyOf(t, request(t, s), d.grace, d.clk.Now())))
			do(t, s, confirm())
			path := s.Snapshot().Bundle
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := rewrite(t, d, path, tc.change)
			rep, err := audit.Bundle(again, d.w, audit.Verifier{Signers: d.pair.Signers})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range rep.Lines {
				if want := l.Property != tc.property; l.OK != want {
					t.Errorf("%s: OK = %t, want %t: %s", l.Property, l.OK, want, l.Detail)
				}
			}
		})
	}
}

// rewrite tells the story of a bundle again in another one, with another
// approval, or with none.
func rewrite(t *testing.T, d *duo, path string, change func(*triage.Approve)) string {
	t.Helper()
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dir := t.TempDir()
	var at time.Time
	b, err := evidence.Create(dir, strings.TrimSuffix(filepath.Base(path), ".hrb"), evidence.Options{Now: func() time.Time { return at }, Keys: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "env" {
			continue
		}
		if at, err = e.Time(); err != nil {
			t.Fatal(err)
		}
		data := any(e.Data)
		if e.Type == "approve" {
			var a triage.Approve
			if err := json.Unmarshal(e.Data, &a); err != nil {
				t.Fatal(err)
			}
			if change == nil {
				continue
			}
			change(&a)
			data = a
		}
		for i := range e.Blobs {
			f, err := r.OpenBlob(e.Blobs[i].SHA256)
			if err != nil {
				t.Fatal(err)
			}
			dst := filepath.Join(dir, filepath.Base(path), "blobs/sha256", e.Blobs[i].SHA256[:2], e.Blobs[i].SHA256)
			if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
				t.Fatal(err)
			}
			out, err := os.Create(dst)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.ReadFrom(f); err != nil {
				t.Fatal(err)
			}
			_ = out.Close()
			_ = f.Close()
		}
		if _, err := b.Append(t.Context(), evidence.Draft{Type: e.Type, Actor: e.Actor, Step: e.Step, Data: data, Blobs: e.Blobs}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.Base(path))
}
