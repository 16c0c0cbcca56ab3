package evidence

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxFiles bounds what List and Verify look at in one bundle.
const maxFiles = 200_000

// Summary is what a bundle says of itself from the outside. Nothing in it is verified.
type Summary struct {
	ID      string
	Path    string
	Opened  time.Time
	Sealed  bool
	Size    int64
	Problem string // why the bundle could not be read; the fields above are then empty but for Path
}

// List names the bundles in dir, in the order of their names. What is not a directory named *.hrb is passed over; a
// bundle that cannot be read is listed with its Problem. A dir that does not exist holds no bundles.
func List(dir string) ([]Summary, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing bundles: %w", err)
	}
	var out []Summary
	for _, d := range entries {
		if d.IsDir() && strings.HasSuffix(d.Name(), ".hrb") {
			out = append(out, summarise(filepath.Join(dir, d.Name())))
		}
	}
	return out, nil
}

func summarise(path string) Summary {
	r, err := OpenReadOnly(path)
	if err != nil {
		return Summary{Path: path, Problem: err.Error()}
	}
	defer r.Close()
	s := Summary{ID: r.meta.ID, Path: path}
	if s.Opened, err = time.Parse(timeLayout, r.meta.Created); err != nil {
		s.Problem = fmt.Sprintf("bundle.json: time %q", r.meta.Created)
	}
	if names, err := someNames(r.root, "seals", maxFiles); err == nil {
		for _, n := range names {
			s.Sealed = s.Sealed || strings.HasSuffix(n, ".txt")
		}
	}
	files := 0
	err = walkFiles(r.root, func(_ string, info fs.FileInfo) error {
		if files++; files > maxFiles {
			return errTooMuch
		}
		if info.Mode().IsRegular() {
			s.Size += info.Size()
		}
		return nil
	})
	if err != nil && s.Problem == "" {
		s.Problem = err.Error()
	}
	return s
}
