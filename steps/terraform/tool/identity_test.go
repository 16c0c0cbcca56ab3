package tool

import (
	"os"
	"path/filepath"
	"testing"
)

// TestVersionIsOfTheFile: what a program said holds for that file and that environment; a script is asked each time.
func TestVersionIsOfTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tofu")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=/a"}
	write("\x7fELF one")
	said := Program{Path: path, Product: "OpenTofu", Version: "1.9.0"}
	identityOf(path, env).keep(said)
	if p, ok := identityOf(path, env).known(); !ok || p != said {
		t.Errorf("known() = %v, %v, want what it said", p, ok)
	}
	if p, ok := identityOf(path, []string{"HOME=/b"}).known(); ok {
		t.Errorf("with another environment it is %v without being asked", p)
	}
	write("\x7fELF two")
	if p, ok := identityOf(path, env).known(); ok {
		t.Errorf("another file at the path is %v without being asked", p)
	}
	write("#!/bin/sh\n")
	identityOf(path, env).keep(said)
	if p, ok := identityOf(path, env).known(); ok {
		t.Errorf("a script is %v without being asked", p)
	}
	identityOf(filepath.Join(t.TempDir(), "none"), env).keep(said)
}
