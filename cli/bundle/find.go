package bundle

import (
	"os"
	"path/filepath"
	"strings"

	"handrail/cli/process"
)

// Find returns the path of a bundle: a path as given, or the id of an incident,
// or a beginning of an id that only one has.
func Find(p *process.Program, name string) (string, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return filepath.Abs(name)
	}
	if info, err := os.Stat(name + ".hrb"); err == nil && info.IsDir() {
		return filepath.Abs(name + ".hrb")
	}
	dir, err := p.Incidents()
	if err != nil {
		return "", err
	}
	rows, err := Rows(p)
	if err != nil {
		return "", err
	}
	var hits []string
	for _, r := range rows {
		base := strings.TrimSuffix(filepath.Base(r.Path), ".hrb")
		if base == name {
			return r.Path, nil
		}
		if strings.HasPrefix(base, name) {
			hits = append(hits, r.Path)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return "", process.Usage("see `handrail bundle list`", "there is no bundle %q, neither as a path nor in %q", name, dir)
	}
	return "", process.Usage("give more of the id", "%d incidents begin with %q", len(hits), name)
}
