package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/evidence/redact"
)

const (
	plainSecret = "correct-horse-battery" // nothing about it says that it is one
	otherSecret = "plover egg, twice"
)

// leaky is a sealed bundle with values in it that were not known to be secret.
func leaky(t *testing.T, keys string) string {
	t.Helper()
	b := create(t, testOptions(keys))
	note(t, b, "somebody read out "+plainSecret+" and password=hunter2hunter2")
	runbook := putBlob(t, b, "text/plain", "clean\n")
	log := putBlob(t, b, "text/plain", "at 02:14 "+plainSecret+" was used\nand again: "+plainSecret+"\n")
	object := putBlob(t, b, redact.MediaKubernetes, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"line":"`+plainSecret+`","n":"7"}}`)
	d := Draft{
		Type: "probe.end", Actor: "robin", Step: "r/lock", Blobs: []Blob{runbook, log, object},
		Data: map[string]any{"log": log.SHA256, "facts": map[string]any{"holder": map[string]string{"t": "ident", "v": plainSecret}, "count": 7}},
	}
	if _, err := b.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RecordAnchor(t.Context(), "robin", b.Checkpoint(), "#incident"); err != nil {
		t.Fatal(err)
	}
	sealIt(t, b)
	note(t, b, "after the seal: "+otherSecret)
	name := b.BlobPath(runbook.SHA256)
	if err := errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, []byte("damaged "+plainSecret), 0o600)); err != nil {
		t.Fatal(err)
	}
	putBlob(t, b, "text/plain", "clean\n") // finds the damage
	sealIt(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Path()
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		out[strings.TrimPrefix(name, dir)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRedactAgain(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys")
	path := leaky(t, keys)
	before := fmt.Sprint(tree(t, path))
	how := Again{Values: []string{plainSecret, otherSecret}, Actor: "alex", Reason: "a password was read out, it was " + plainSecret}
	got, err := RedactAgain(t.Context(), path, how, testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(tree(t, path)) != before {
		t.Error("the old bundle was changed")
	}
	if got.ID != "i1-r1" || got.Blobs != 2 || got.Entries < 4 {
		t.Errorf("got %+v", got)
	}
	for name, content := range tree(t, got.Path) {
		for _, secret := range how.Values {
			if strings.Contains(content, secret[:12]) {
				t.Errorf("%s holds a secret still", name)
			}
		}
	}
	old, err := entriesOf(t, path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := entriesOf(t, got.Path)
	if err != nil || len(now) != len(old) {
		t.Fatalf("%d entries, %v; want %d", len(now), err, len(old))
	}
	// What was hidden before keeps its token, and what names a blob names the new one.
	token := string(old[1].Data)[strings.Index(string(old[1].Data), redact.TokenOpen):]
	if !strings.Contains(string(now[1].Data), token[:len(token)-2]) {
		t.Errorf("%s lost a token of %s", now[1].Data, old[1].Data)
	}
	if !strings.Contains(string(now[2].Data), now[2].Blobs[1].SHA256) {
		t.Errorf("%s does not name blob %s", now[2].Data, now[2].Blobs[1].SHA256)
	}
	r := mustVerify(t, got.Path)
	if !r.OK() || r.Of(PropertyAgain) != Unproven || r.Of(PropertySeal) != Proven {
		t.Errorf("Verify = %+v", r.Lines)
	}
	if r, err = (Policy{From: path}).Verify(got.Path); err != nil || !r.OK() || r.Of(PropertyAgain) != Proven {
		t.Errorf("beside the old one: %+v, %v", r.Lines, err)
	}
	if leaks := leaksIn(t, got.Path, how.Values); len(leaks) > 0 {
		t.Errorf("leaks: %+v", leaks)
	}
	// It goes on like any other, and can be redacted once more.
	b, err := Open(got.Path, testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	note(t, b, "goes on")
	sealIt(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := RedactAgain(t.Context(), got.Path, Again{Values: []string{"something else"}, Actor: "alex", Reason: "twice"}, testOptions(keys))
	if err != nil || next.ID != "i1-r2" {
		t.Fatalf("once more: %+v, %v", next, err)
	}
	if r := mustVerify(t, next.Path); !r.OK() {
		t.Errorf("Verify = %+v", r.Lines)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".tmp*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func leaksIn(t *testing.T, path string, values []string) []Leak {
	t.Helper()
	r, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err := r.Leaks(values, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBesideTheOldOne: whatever else than a token differs from the old bundle is noticed.
func TestBesideTheOldOne(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(e []Entry) []Entry{
		"another word":   func(e []Entry) []Entry { e[1].Data = []byte(`{"text":"somebody else read it out"}`); return e },
		"another time":   func(e []Entry) []Entry { e[1].T = "2026-11-21T02:14:00.500000000Z"; return e },
		"another person": func(e []Entry) []Entry { e[1].Actor = "mallory"; return e },
		"added in front": func(e []Entry) []Entry {
			e[1].Data = bytes.Replace(e[1].Data, []byte(`{"text":"`), []byte(`{"text":"not `), 1)
			return e
		},
		"cut off": func(e []Entry) []Entry { return e[:2] },
		"another root": func(e []Entry) []Entry {
			e[0].Data = bytes.Replace(e[0].Data, []byte(`"root":"`), []byte(`"root":"AAAA`), 1)
			return e
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := create(t, testOptions(""))
			note(t, b, "one "+plainSecret+" two")
			note(t, b, "three")
			note(t, b, "four")
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := RedactAgain(t.Context(), b.Path(), Again{Values: []string{plainSecret}, Actor: "alex", Reason: "why"}, testOptions(""))
			if err != nil {
				t.Fatal(err)
			}
			entries, err := entriesOf(t, got.Path)
			if err != nil {
				t.Fatal(err)
			}
			var journal []byte
			prev := zeroHash
			for _, e := range forge(entries) { // the chain is made again: only the old bundle can tell
				e.Prev = prev
				journal, prev = appendEntry(journal, &e)
				journal = append(journal, '\n')
			}
			if err := os.WriteFile(filepath.Join(got.Path, "journal", segmentName(1)), journal, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Policy{From: b.Path()}.Verify(got.Path)
			if err != nil || r.Of(PropertyAgain) != Failed || r.Of(PropertyChain) != Proven {
				t.Errorf("Verify = %+v, %v", r.Lines, err)
			}
		})
	}
}

func TestRedactAgainRefuses(t *testing.T) {
	t.Parallel()
	path := small(t)
	if _, err := RedactAgain(t.Context(), path, Again{Actor: "alex"}, testOptions("")); err == nil {
		t.Error("no reason was needed")
	}
	if r, err := (Policy{From: path}).Verify(path); err != nil || r.Of(PropertyAgain) != Failed {
		t.Errorf("a bundle that is not redacted again: %+v, %v", r.Lines, err)
	}
	journal := filepath.Join(path, "journal", segmentName(1))
	raw, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, bytes.Replace(raw, []byte("first"), []byte("fIrst"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RedactAgain(t.Context(), path, Again{Actor: "alex", Reason: "why"}, testOptions("")); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a damaged bundle: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RedactAgain(ctx, small(t), Again{Actor: "alex", Reason: "why"}, testOptions("")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOnlyHidden(t *testing.T) {
	t.Parallel()
	const tok = "<redacted:known:0123456789abcdef>"
	for _, tc := range []struct {
		then, now string
		want      bool
	}{
		{"a", "a", true},
		{"a secret b", "a " + tok + " b", true},
		{"secret", tok, true},
		{`{"n":5432,"m":1}`, `{"n":"` + tok + `","m":1}`, true},
		{"x secret y secret z", "x " + tok + " y " + tok + " z", true},
		{"two in a row", "two " + tok + tok + " row", true},
		{"a " + tok + " b secret", "a " + tok + " b " + tok, true},
		{"a", "b", false},
		{"a secret b", "a " + tok + " c", false},
		{"a secret b", "b " + tok + " b", false},
		{"a  b", "a " + tok + "  b", false},
		{"x secret z", "x " + tok + " y " + tok + " z", false},
		{"", tok, false},
		{"aa", "a" + tok + "aa", false},
	} {
		if got := onlyHidden([]byte(tc.then), []byte(tc.now)); got != tc.want {
			t.Errorf("%q to %q: %t", tc.then, tc.now, got)
		}
	}
}
