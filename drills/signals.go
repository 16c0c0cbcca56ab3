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

// gateSignals is the verb kube.signals: the file in which a team describes what its own
// reconciler waits for, as it lies beside whoever walks the drill.
type gateSignals struct{ text []byte }

func readSignals(p parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.signals", "file")
	at := p.need(n, f, "file")
	name := p.Text(at, "file")
	if name == "" {
		return gateSignals{}
	}
	text, err := fs.ReadFile(p.files, path.Join(path.Dir(p.File), path.Base(name)))
	if err != nil {
		p.Fail(at, "the file stands beside the drill", "file %q cannot be read: %v", name, err)
	}
	return gateSignals{text}
}

func (st *stage) signalsFile() string { return filepath.Join(st.home, "signals.yaml") }

func (s gateSignals) apply(_ context.Context, st *stage) error {
	st.say("a file of gate signals")
	return os.WriteFile(st.signalsFile(), s.text, 0o600)
}

// signals reports whether the drill gives a file of gate signals.
func (p part) signals() bool {
	return slices.ContainsFunc(p.inject, func(s step) bool { return s.verb == "kube.signals" })
}
