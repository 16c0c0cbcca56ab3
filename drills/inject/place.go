package inject

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
)

// placeFile is the verb file.place: a file as it lies beside whoever walks the
// drill, whose path is drill.NAME.
type placeFile struct {
	name string
	text []byte
}

func readPlace(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "file.place", "file", "as")
	at := p.Need(n, f, "file")
	a := placeFile{name: p.Form(p.Need(n, f, "as"), "as", NameForm)}
	name := p.Text(at, "file")
	if name == "" {
		return a
	}
	text, err := fs.ReadFile(p.Files, path.Join(path.Dir(p.File), path.Base(name)))
	if err != nil {
		p.Fail(at, "the file stands beside the drill", "file %q cannot be read: %v", name, err)
	}
	a.text = text
	return a
}

func placed(st *stage.Stage, name string) string {
	return filepath.Join(st.Home, "files", name+".yaml")
}

func (a placeFile) apply(_ context.Context, st *stage.Stage) error {
	st.Say("a file %s", a.name)
	if err := os.MkdirAll(filepath.Dir(placed(st, a.name)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(placed(st, a.name), a.text, 0o600)
}
