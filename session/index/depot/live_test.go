package depot_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"handrail/evidence"
	"handrail/session/index/depot"
)

// add writes entries to a bundle.
func add(t *testing.T, path string, texts ...string) {
	t.Helper()
	b, err := evidence.Open(path, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if _, err := b.Append(t.Context(), evidence.Draft{Type: "note", Actor: "ana", Data: map[string]string{"text": text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLive pushes a bundle that grows, and watches it from another machine: each copy goes on from the one before, a
// history of another writer is neither overwritten nor taken, and the whole bundle comes last.
func TestLive(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src := bundle(t, filepath.Join(dir, "a"), "one", "first")
		to, ok := f.store(t).(depot.Replacer)
		if !ok {
			t.Fatal("nothing can be replaced there")
		}
		w := &depot.Watch{From: f.store(t), ID: "one", Dir: mkdir(t, filepath.Join(dir, "w"))}
		if _, _, err := w.Look(t.Context()); !errors.Is(err, depot.ErrNone) {
			t.Fatalf("Look() where nothing is: %v", err)
		}
		var last depot.BundleInfo
		send := func() {
			t.Helper()
			there, err := depot.PushLive(t.Context(), src, t.TempDir(), to, last)
			if err != nil {
				t.Fatal(err)
			}
			last = there
		}
		look := func() {
			t.Helper()
			path, there, err := w.Look(t.Context())
			if err != nil || path == "" || root(t, path) != root(t, src) {
				t.Fatalf("Look() = %q, %+v, %v", path, there, err)
			}
			if path, _, err := w.Look(t.Context()); path != "" || err != nil {
				t.Fatalf("Look() again = %q, %v, want nothing new", path, err)
			}
		}
		for i := range 3 {
			if i > 0 {
				add(t, src, fmt.Sprintf("entry %d", i))
			}
			send()
			look()
		}
		if kept, err := filepath.Glob(filepath.Join(w.Dir, "*")); err != nil || len(kept) != 2 {
			t.Errorf("%v is kept of what was fetched, %v; want the last two", kept, err)
		}
		// Another process, which does not know what it pushed before, goes on too.
		last = depot.BundleInfo{}
		add(t, src, "after a pause")
		send()
		look()
		if l, err := depot.List(t.Context(), f.store(t)); err != nil || len(l.Bundles)+len(l.Strangers) != 0 {
			t.Errorf("a copy is listed as a bundle: %+v, %v", l, err)
		}

		other := bundle(t, filepath.Join(dir, "b"), "one", "another history")
		if _, err := depot.PushLive(t.Context(), other, t.TempDir(), to, depot.BundleInfo{}); !errors.Is(err, depot.ErrOther) {
			t.Errorf("another history took the place: %v", err)
		}
		f.swap(t, depot.Live("one"), []byte("no bundle"))
		if path, _, _ := w.Look(t.Context()); path != "" { // a bucket whose file was changed behind its back may call it the same version
			t.Errorf("Look() took what does not verify: %q", path)
		}
		push(t, src, f.store(t))
		path, there, err := w.Look(t.Context())
		if err != nil || there.ID != "one" || root(t, path) != root(t, src) {
			t.Errorf("the whole bundle: %q, %+v, %v", path, there, err)
		}
		if strings.HasSuffix(there.ID, ".live") {
			t.Error("a copy is preferred to the whole bundle")
		}
	})
}

// TestReplaceNothingElse: what another writer put there meanwhile is not overwritten, as far as the server can tell.
func TestReplaceNothingElse(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src := bundle(t, filepath.Join(dir, "a"), "one", "first")
		to, _ := f.store(t).(depot.Replacer)
		p, err := depot.Pack(t.Context(), src, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := to.Replace(t.Context(), depot.Live("one"), p, depot.BundleInfo{}); err != nil {
			t.Fatal(err)
		}
		found, err := to.Find(t.Context(), depot.Live("one"))
		if err != nil {
			t.Fatal(err)
		}
		add(t, src, "second")
		q, err := depot.Pack(t.Context(), src, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		for name, was := range map[string]depot.BundleInfo{"nothing": {}, "another": {Version: `"0123456789abcdef0123456789abcdef"`}} {
			if err := to.Replace(t.Context(), depot.Live("one"), q, was); !errors.Is(err, depot.ErrTaken) {
				t.Errorf("in place of %s: %v, want ErrTaken", name, err)
			}
		}
		if err := to.Replace(t.Context(), depot.Live("one"), q, found); err != nil {
			t.Error(err)
		}
	})
}
