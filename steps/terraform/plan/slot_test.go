package plan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What a killed handrail left is removed by a later one, and nothing else is.
func TestSweepSlots(t *testing.T) {
	t.Parallel()
	root, other := t.TempDir(), t.TempDir()
	for _, name := range []string{slotDir + "old", slotDir + "new", slotDir + "open", "else"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "plan"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name != slotDir+"new" {
			if err := os.Chtimes(filepath.Join(root, name), time.Time{}, time.Now().Add(-2*slotFor)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(filepath.Join(root, slotDir+"open"), 0o755); err != nil { // no directory of ours
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(root, slotDir+"link")); err != nil {
		t.Fatal(err)
	}
	sweepSlots(root, time.Now().Add(-slotFor))
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"else", slotDir + "link", slotDir + "new", slotDir + "open"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}
