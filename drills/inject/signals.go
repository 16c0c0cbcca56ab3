package inject

import (
	"context"
	"os"
	"path/filepath"

	"handrail/drills/stage"
)

// gateSignals is the verb kube.signals: the file in which a team describes what its own
// reconciler waits for, as it lies beside the person who walks the drill.
type gateSignals struct {
	File []byte `key:"file,required" as:"file"`
}

func signalsFile(st *stage.Stage) string { return filepath.Join(st.Home, "signals.yaml") }

func (s gateSignals) apply(_ context.Context, st *stage.Stage) error {
	st.Say("a file of gate signals")
	return os.WriteFile(signalsFile(st), s.File, 0o600)
}
