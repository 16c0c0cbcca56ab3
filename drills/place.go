package drills

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"
)

// placeFile is the verb file.place: a file as it lies beside whoever walks the
// drill, whose path is drill.NAME.
type placeFile struct {
	name string
	text []byte
}

func readPlace(p parser, n *yaml.Node) action {
	f := p.Fields(n, "file.place", "file", "as")
	at := p.need(n, f, "file")
	a := placeFile{name: p.form(p.need(n, f, "as"), "as", nameForm)}
	name := p.Text(at, "file")
	if name == "" {
		return a
	}
	text, err := fs.ReadFile(p.files, path.Join(path.Dir(p.File), path.Base(name)))
	if err != nil {
		p.Fail(at, "the file stands beside the drill", "file %q cannot be read: %v", name, err)
	}
	a.text = text
	return a
}

func (st *stage) placed(name string) string { return filepath.Join(st.home, "files", name+".yaml") }

func (a placeFile) apply(_ context.Context, st *stage) error {
	st.say("a file %s", a.name)
	if err := os.MkdirAll(filepath.Dir(st.placed(a.name)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(st.placed(a.name), a.text, 0o600)
}

// places are the names of the files that the drill gives.
func (p part) places() []string {
	var names []string
	for _, s := range p.inject {
		if a, ok := s.act.(placeFile); ok && !slices.Contains(names, a.name) {
			names = append(names, a.name)
		}
	}
	return names
}
