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

// gateSignals is the verb kube.signals: the file in which a team describes what its own
// reconciler waits for, as it lies beside whoever walks the drill.
type gateSignals struct{ text []byte }

func readSignals(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.signals", "file")
	at := p.Need(n, f, "file")
	name := p.Text(at, "file")
	if name == "" {
		return gateSignals{}
	}
	text, err := fs.ReadFile(p.Files, path.Join(path.Dir(p.File), path.Base(name)))
	if err != nil {
		p.Fail(at, "the file stands beside the drill", "file %q cannot be read: %v", name, err)
	}
	return gateSignals{text}
}

func signalsFile(st *stage.Stage) string { return filepath.Join(st.Home, "signals.yaml") }

func (s gateSignals) apply(_ context.Context, st *stage.Stage) error {
	st.Say("a file of gate signals")
	return os.WriteFile(signalsFile(st), s.text, 0o600)
}
