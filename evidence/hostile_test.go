package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTooLarge gives the verifier more than a bundle may hold; it must say so before it reads any of it.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	for name, grow := range map[string]func(t *testing.T, path string){
		"bytes": func(t *testing.T, path string) {
			for i := range 5 { // holes: they cost no disk, and hashing them would take long
				sum := fmt.Sprintf("%064x", i)
				file := filepath.Join(path, "blobs", "sha256", "00", sum)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(file, maxBlob); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := opened(t).write(t.TempDir())
			grow(t, path)
			r := mustVerify(t, path)
			if r.OK() || r.Of(PropertyLayout) != Failed || len(r.Lines) != 2 {
				t.Errorf("Verify = %+v", r.Lines)
			}
		})
	}
}

// TestVerifyChangesNothing: a verifier that writes would be one more writer to distrust.
func TestVerifyChangesNothing(t *testing.T) {
	t.Parallel()
	k := wholeKit(t)
	path := k.write(t.TempDir())
	before := snapshotOf(t, path)
	mustVerify(t, path)
	if after := snapshotOf(t, path); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func snapshotOf(t *testing.T, path string) string {
	t.Helper()
	var out strings.Builder
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	err = walkFiles(root, func(name string, info os.FileInfo) error {
		_, err := fmt.Fprintln(&out, name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestManyNames stops reading a directory once it has more names than a bundle.
func TestManyNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := someNames(root, ".", 9); err == nil {
		t.Error("ten names were taken where nine are allowed")
	}
	if names, err := someNames(root, ".", 10); err != nil || len(names) != 10 || names[0] != "0" {
		t.Errorf("someNames = %v, %v", names, err)
	}
}
