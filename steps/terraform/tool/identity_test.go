package tool

import (
	"os"
	"path/filepath"
	"testing"

	"handrail/drills/lab"
	"handrail/steps"
)

// TestVersionIsOfTheFile: what a tool said holds for that file. Another file at its path is asked, and so is each time a
// program that is no tool itself: a version manager runs the one that was chosen last.
func TestVersionIsOfTheFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no lab with -short")
	}
	tofu, err := lab.Tofu(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	env := steps.Env{Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}
	path := filepath.Join(t.TempDir(), "tofu")
	if err := os.Symlink(tofu, path); err != nil {
		t.Fatal(err)
	}
	said, err := programAt(t.Context(), env, path)
	if err != nil || said.Product != "OpenTofu" {
		t.Fatalf("programAt() = %v, %v", said, err)
	}
	if p, ok := known(path); !ok || p != said {
		t.Errorf("known() = %v, %v, want what it said", p, ok)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"another program": self, "a script": script(t)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		if p, ok := known(path); ok {
			t.Errorf("%s at the path is %v without being asked", name, p)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		keep(path, before, said)
		if p, ok := known(path); ok {
			t.Errorf("%s, which may run any tool, is believed to be %v", name, p)
		}
	}
}

func script(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tofu")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho OpenTofu v1.9.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
