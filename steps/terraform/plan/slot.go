package plan

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/tool"
)

// planSlot is where a program puts a plan that is read and thrown away. A saved
// plan holds every secret of the state in clear.
type planSlot struct {
	path  string     // as the program is told
	files []*os.File // that it inherits, from 3 on
	end   func()
}

// missed reports whether the program could not reach the slot: what starts
// another program in its place may not hand on what it inherited.
func (s planSlot) missed(r tool.Result) bool {
	return len(s.files) > 0 && r.Exit != 0 && r.Exit != 2 && bytes.Contains(r.Stderr, []byte(s.path))
}

// fill writes what the program is to read.
func (s planSlot) fill(text []byte) error {
	if len(s.files) == 0 {
		return os.WriteFile(s.path, text, 0o600)
	}
	_, err := s.files[0].WriteAt(text, 0)
	return err
}

const (
	slotDir = "handrail-plan-"
	// slotFor is longer than any plan may take; what is older was left by a handrail
	// that was killed.
	slotFor = time.Hour
)

// namedSlot is a private directory, for where there are no files without a name.
// It goes away with the plan, or with a later one.
func namedSlot(env steps.Env) (planSlot, error) {
	root := os.TempDir()
	sweepSlots(root, time.Now().Add(-slotFor))
	if env.Private != "" && os.MkdirAll(env.Private, 0o700) == nil { // it goes with the incident at the latest
		root = env.Private
		sweepSlots(root, time.Now().Add(-slotFor))
	}
	dir, err := os.MkdirTemp(root, slotDir)
	if err != nil {
		return planSlot{}, fmt.Errorf("place for the plan: %w", err)
	}
	return planSlot{path: filepath.Join(dir, "plan"), end: func() { _ = os.RemoveAll(dir) }}, nil
}

// sweepSlots removes directories that were left. In a folder that all users
// share, those of others cannot be removed, and links are not followed.
func sweepSlots(root string, before time.Time) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), slotDir) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().Perm() == 0o700 && info.ModTime().Before(before) {
			_ = os.RemoveAll(filepath.Join(root, e.Name())) // the next one tries again
		}
	}
}
