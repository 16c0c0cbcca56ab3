package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := ReadFile(Below(dir, "a"), 4); err != nil || string(raw) != "1234" {
		t.Errorf("%q, %v", raw, err)
	}
	for name, most := range map[string]int64{"a": 3, ".": 10, "none": 10} {
		if raw, err := ReadFile(Below(dir, name), most); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if f, err := OpenRegularIn(root, "out"); err == nil {
		f.Close()
		t.Error("a link that leads out was followed")
	}
	for n, want := range map[int64]string{3: "3 bytes", 64 << 10: "64 KiB", 1 << 20: "1 MiB"} {
		if got := amount(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
