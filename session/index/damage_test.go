package index

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/evidence"
)

// Whatever happens to the cache, the answer is that of the bundles.
func TestDamageChangesNoAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	s := corpus(t, 20)
	queries := []Query{{Text: []string{"EXC-11"}}, {Text: []string{"hold"}}, {Keys: map[Key][]string{Resource: {"kubernetes_deployment.pay*"}}}}
	var want []Answer
	for _, q := range queries {
		want = append(want, holdTo(t, s, q))
	}
	keep := map[string][]byte{}
	for _, name := range append(textFiles(t, s), filepath.Join(s.cache, rowsName)) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		keep[name] = b
	}
	if len(keep) != 2 {
		t.Fatalf("the cache has %d files, want 2", len(keep))
	}
	again := func(what string) {
		t.Helper()
		for i, q := range queries {
			if d := cmp.Diff(want[i], search(t, s, q)); d != "" {
				t.Fatalf("%s: the answer to %d changed:\n%s", what, i, d)
			}
		}
	}
	for name, good := range keep {
		for i := range 16 {
			bad := bytes.Clone(good)
			at := (len(bad) - 1) * i / 15
			bad[at] ^= 1 << (i % 8)
			restore(t, s, keep, name, bad)
			again(filepath.Base(name) + " with one bit changed")
		}
		for _, n := range []int{0, len(good) / 2, len(good) - 1} {
			restore(t, s, keep, name, good[:n])
			again(filepath.Base(name) + " cut")
		}
		restore(t, s, keep, name, append(bytes.Clone(good), good...))
		again(filepath.Base(name) + " twice")
	}
}

// restore puts the cache back as it was, but for one file.
func restore(t *testing.T, s Store, keep map[string][]byte, name string, with []byte) {
	t.Helper()
	if err := os.RemoveAll(s.cache); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for n, b := range keep {
		if n == name {
			b = with
		}
		if err := os.WriteFile(n, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The cache holds no byte that the bundles do not hold: what was redacted there
// is in none of its files.
func TestCacheHoldsNoSecret(t *testing.T) {
	t.Parallel()
	s := corpus(t, 20)
	secret := "hunter2-" + "correct-horse-battery"
	withSecret(t, s, secret)
	if a := holdTo(t, s, Query{Text: []string{"token is"}}); len(a.Hits) != 1 {
		t.Fatalf("hits = %+v", a.Hits)
	}
	for _, name := range append(textFiles(t, s), filepath.Join(s.cache, rowsName)) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), "horse-battery"} {
			if bytes.Contains(b, []byte(form)) {
				t.Errorf("%s holds %q", name, form)
			}
		}
	}
}

func FuzzRows(f *testing.F) {
	var e encoder
	e.num(1)
	e.text("a.hrb")
	e.num(1)
	e.text("marks")
	e.row(Row{ID: "a", Runbooks: []string{"b"}})
	f.Add(string(e.b))
	f.Fuzz(func(t *testing.T, body string) {
		rows, err := decodeRowList(body)
		if err == nil && len(rows) > len(body) {
			t.Errorf("%d rows from %d bytes", len(rows), len(body))
		}
	})
}

func FuzzPage(f *testing.F) {
	p := &page{entries: []entry{{seq: 1, kind: "note", lines: []textLine{{key: Actor, text: "text: x", value: 6}}}}, blobs: []blobRef{{sha: "ab", seq: 1}}}
	f.Add(string(p.encode()))
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := decodePage(raw)
		if err != nil {
			return
		}
		w := Query{Text: []string{"x"}, Keys: map[Key][]string{Actor: {"x*"}}}.ready()
		r := &result{found: &found{}, w: &w, j: job{g: &bundleContents{}}}
		r.lines(p)
		r.keys(p)
		if again, err := decodePage(string(p.encode())); err != nil || len(again.entries) != len(p.entries) {
			t.Errorf("a page does not survive its own form: %v", err)
		}
	})
}

// FuzzText gives parts whose sums are right and whose contents are not.
func FuzzText(f *testing.F) {
	f.Add("\x00\x00\x00", "\x01\x01\x01\nword\n", "\x01", "word")
	f.Fuzz(func(t *testing.T, dir, words, posts, text string) {
		sized := func(off int, s string) part {
			sum := sumOf([]byte(s))
			return part{uint64(off), uint64(len(s)), string(sum[:])}
		}
		tf := &textFile{in: bytes.NewReader([]byte(words + posts))}
		_ = tf.directory(dir)
		tf.docs = min(max(tf.docs, 1), 1<<16)
		tf.blocks = []block{{first: "", last: "\xff", words: sized(0, words), postings: sized(len(words), posts)}}
		w := Query{Text: []string{text}, Keys: map[Key][]string{Actor: {text}}, Fingerprints: []Fingerprint{"0123456789abcdef"}}.ready()
		for range trigrams / rowGroup {
			tf.groups = append(tf.groups, part{})
		}
		into := tf.none()
		for _, p := range w.pieces {
			if len(p.text) < 3 {
				_ = tf.withPiece(into, p)
			}
		}
		for _, p := range w.keys[Actor] {
			_ = tf.withKey(into, Actor, p)
		}
		_ = tf.withWord(into, text)
	})
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(textMagic + "0123456789012345678901234567890123456789"))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = readText(bytes.NewReader(raw), int64(len(raw)))
		_, _ = decodeRows(raw)
	})
}

// withSecret writes a note with a value that the session knows to be secret.
func withSecret(t *testing.T, s Store, secret string) {
	t.Helper()
	b, err := evidence.Open(incidentPath(t, s, 3), evidence.Options{FS: quickFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Secret(secret)
	if _, err := b.Append(t.Context(), evidence.Draft{Type: "note", Actor: "op", Data: map[string]string{"text": "the token is " + secret}}); err != nil {
		t.Fatal(err)
	}
}
