package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stamp is what the file system says of the parts of a bundle that a journal
// lives in: its first file, the directory of segments and each segment. It is taken before the bundle is read, so that what is written
// meanwhile makes it out of date. Blobs are not in it: they are held to their
// names whenever they are read.
type stamp struct {
	segments int
	marks    string
}

// same reports whether a bundle is as it was when the stamp was taken.
func (s stamp) same(o stamp) bool { return s.segments > 0 && s == o }

// segmentPath is the nth segment of a bundle, counted from 1.
func segmentPath(bundle string, n int) string {
	return filepath.Join(bundle, "journal", fmt.Sprintf("%06d.jsonl", n))
}

// stampOf looks at a bundle that was last seen with so many segments; a new
// one shows in the mark of their directory. The zero stamp is never the same.
func (m marker) stampOf(bundle string, segments int) stamp {
	if segments < 1 {
		if segments = countSegments(filepath.Join(m.dir, bundle)); segments < 1 {
			return stamp{}
		}
	}
	var space [256]byte
	marks := space[:0]
	for n := -1; n <= segments; n++ {
		name := bundle + "/journal"
		switch {
		case n < 0:
			name = bundle + "/bundle.json"
		case n == 1:
			name += "/000001.jsonl"
		case n > 1:
			name = segmentPath(bundle, n)
		}
		var ok bool
		if marks, ok = m.appendMark(marks, name); !ok {
			return stamp{}
		}
	}
	return stamp{segments: segments, marks: string(marks)}
}

func countSegments(bundle string) int {
	list, err := os.ReadDir(filepath.Join(bundle, "journal"))
	if err != nil {
		return 0
	}
	return len(list)
}

// bundleNames lists the directories *.hrb in dir, the newest first as ids
// begin with a time. A dir that does not exist holds none.
func bundleNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing bundles: %w", err)
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("listing bundles: %w", err)
	}
	names := make([]string, 0, len(list))
	for _, d := range list {
		if d.IsDir() && strings.HasSuffix(d.Name(), ".hrb") {
			names = append(names, d.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	return names, nil
}
