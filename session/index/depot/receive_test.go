package depot_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"handrail/evidence"
	"handrail/session/index/depot"
)

// bundle writes a bundle with a journal and two artifacts.
func bundle(t *testing.T, dir, id string, notes ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Create(dir, id, evidence.Options{Boot: "boot", Host: "host", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	say(t, b, notes...)
	return b.Path()
}

func say(t *testing.T, b *evidence.Bundle, notes ...string) {
	t.Helper()
	for _, n := range notes {
		w, err := b.Blob("output", "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("artifact of " + n)); err != nil {
			t.Fatal(err)
		}
		blob, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Append(t.Context(), evidence.Draft{Type: "note", Actor: "op", Data: map[string]string{"text": n}, Blobs: []evidence.Blob{blob}}); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.hrb"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func root(t *testing.T, path string) string {
	t.Helper()
	v, err := evidence.Verify(path)
	if err != nil || !v.OK() {
		t.Fatalf("Verify(%s) = %+v, %v", path, v.Lines, err)
	}
	return v.Root
}

func TestCopyIsTheBundle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src, dest := bundle(t, filepath.Join(dir, "a"), "one", "first", "second"), filepath.Join(dir, "b")
	if err := os.Mkdir(dest, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "report.md"), []byte("says what it likes"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := depot.Receive(t.Context(), src, dest)
	if err != nil || r.Already || r.Files == 0 || r.Bytes == 0 {
		t.Fatalf("Receive() = %+v, %v", r, err)
	}
	if root(t, r.Path) != root(t, src) {
		t.Error("the copy has another root")
	}
	for _, absent := range []string{"lock", "report.md"} {
		if _, err := os.Lstat(filepath.Join(r.Path, absent)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was copied", absent)
		}
	}
	if info, err := os.Stat(r.Path); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the copy is %v, want what its place allows", info.Mode())
	}
	if again, err := depot.Receive(t.Context(), src, dest); err != nil || !again.Already {
		t.Errorf("a second copy = %+v, %v, want that it is there already", again, err)
	}
	if _, err := depot.Receive(t.Context(), src, filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a place that does not exist was taken")
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dest := filepath.Join(dir, "dest")
	old := bundle(t, dest, "one", "first")
	was := root(t, old)
	other := bundle(t, filepath.Join(dir, "b"), "one", "another story")
	if _, err := depot.Receive(t.Context(), other, dest); !errors.Is(err, depot.ErrOther) {
		t.Errorf("another history of the same id: %v, want ErrOther", err)
	}
	// The same history, which went on here.
	grown := filepath.Join(dir, "c")
	if err := os.Mkdir(grown, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := depot.Receive(t.Context(), old, grown)
	if err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Open(r.Path, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	say(t, b, "later")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := depot.Receive(t.Context(), r.Path, dest); !errors.Is(err, depot.ErrOlder) {
		t.Errorf("a later copy: %v, want ErrOlder", err)
	}
	if root(t, old) != was || len(names(t, dest)) != 1 {
		t.Error("what was there changed")
	}
}

// What does not verify on arrival gets no name, whatever is wrong with it.
func TestDamageStaysOutside(t *testing.T) {
	t.Parallel()
	for what, harm := range map[string]func(t *testing.T, src string){
		"a changed journal": func(t *testing.T, src string) { flip(t, filepath.Join(src, "journal", "000001.jsonl"), 300) },
		"a torn tail": func(t *testing.T, src string) {
			name := filepath.Join(src, "journal", "000001.jsonl")
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b[:len(b)-5], 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a changed artifact": func(t *testing.T, src string) { flip(t, artifact(t, src), 0) },
		"a lost artifact": func(t *testing.T, src string) {
			if err := os.Remove(artifact(t, src)); err != nil {
				t.Fatal(err)
			}
		},
		"a link": func(t *testing.T, src string) {
			name := artifact(t, src)
			if err := os.Rename(name, src+".elsewhere"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(src+".elsewhere", name); err != nil {
				t.Fatal(err)
			}
		},
		"a program": func(t *testing.T, src string) {
			if err := os.WriteFile(filepath.Join(src, "run.sh"), []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a file in a wrong place": func(t *testing.T, src string) {
			if err := os.WriteFile(filepath.Join(src, "journal", "notes"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			src, dest := bundle(t, filepath.Join(dir, "a"), "one", "first", "second"), filepath.Join(dir, "b")
			if err := os.Mkdir(dest, 0o700); err != nil {
				t.Fatal(err)
			}
			harm(t, src)
			if _, err := depot.Receive(t.Context(), src, dest); !errors.Is(err, depot.ErrUnverified) {
				t.Errorf("Receive() = %v, want ErrUnverified", err)
			}
			if got := names(t, dest); len(got) != 0 {
				t.Errorf("%v became visible", got)
			}
		})
	}
}

// A copy that broke off goes on, and what it left half done does no harm.
func TestBrokenOffGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src, dest := bundle(t, filepath.Join(dir, "a"), "one", "first", "second"), filepath.Join(dir, "b")
	part := filepath.Join(dest, ".handrail-incoming", "one")
	if err := os.MkdirAll(filepath.Join(part, "journal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(part, "blobs"), os.DirFS(filepath.Join(src, "blobs"))); err != nil {
		t.Fatal(err)
	}
	half := artifact(t, part)
	if err := os.Chmod(half, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(half, 3); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"journal/000001.jsonl": "half a li", "journal/000002.jsonl": "not of this bundle", "bundle.json": "{"} {
		if err := os.WriteFile(filepath.Join(part, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := depot.Receive(t.Context(), src, dest)
	if err != nil {
		t.Fatal(err)
	}
	if root(t, r.Path) != root(t, src) {
		t.Error("the copy has another root")
	}
	if _, err := os.Lstat(part); !errors.Is(err, os.ErrNotExist) {
		t.Error("something is left in quarantine")
	}
}

func artifact(t *testing.T, bundle string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(bundle, "blobs", "sha256", "*", "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no artifact in %s: %v", bundle, err)
	}
	return found[0]
}

func flip(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 1
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
