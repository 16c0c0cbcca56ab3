package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/cli/process"
)

// TestSaveNew: what is saved is whole and its owner's, nothing is overwritten, and nothing half is left.
func TestSaveNew(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := &process.Program{Environ: []string{"HOME=" + home}}
	path, err := saveNew(t.Context(), p, "~/lock.json", strings.NewReader("{}\n"))
	if err != nil || path != filepath.Join(home, "lock.json") {
		t.Fatalf("saveNew() = %q, %v", path, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 3 {
		t.Errorf("the file is %v, %v", info, err)
	}

	bundle := filepath.Join(home, "x.hrb")
	if err := os.MkdirAll(filepath.Join(bundle, "journal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundle, "bundle.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(filepath.Join(bundle, "journal"), filepath.Join(home, "link")), os.Symlink("nowhere", filepath.Join(home, "dangling"))); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		name string
		from io.Reader
		err  string
	}{
		"there already":   {t.Context(), "~/lock.json", strings.NewReader("x"), "nothing is overwritten"},
		"a dangling link": {t.Context(), "~/dangling", strings.NewReader("x"), "nothing is overwritten"},
		"a folder":        {t.Context(), home, strings.NewReader("x"), "nothing is overwritten"},
		"no folder":       {t.Context(), "~/none/x", strings.NewReader("x"), "no such file"},
		"into a bundle":   {t.Context(), "~/x.hrb/blobs.txt", strings.NewReader("x"), "inside of the bundle"},
		"by a link":       {t.Context(), "~/link/000002.jsonl", strings.NewReader("x"), "inside of the bundle"},
		"given up":        {ended, "~/given-up", strings.NewReader("x"), "canceled"},
		"broken":          {t.Context(), "~/broken", io.MultiReader(strings.NewReader("x"), broken{}), "it broke"},
	} {
		if path, err := saveNew(tc.ctx, p, tc.name, tc.from); err == nil || path != "" || !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %q, %v; want %q", name, path, err, tc.err)
		}
	}
	if src, err := os.ReadFile(path); err != nil || string(src) != "{}\n" {
		t.Errorf("the file that was there holds %q, %v", src, err)
	}
	left, err := os.ReadDir(home)
	if err != nil || len(left) != 4 { // lock.json, x.hrb and two links
		t.Errorf("left behind: %v, %v", left, err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("it broke") }
