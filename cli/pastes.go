package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence/redact"
)

const (
	// pastedLines is from how many lines on a text may be the log of a run: fewer are
	// words about one.
	pastedLines = 3
	// pastedKept bounds the texts that are remembered, of which the newest may become a
	// file, and pastedFor how long such a file is kept. The bundle has a copy.
	pastedKept = 8
	pastedFor  = 7 * 24 * time.Hour
)

// pastes are the texts that were matched, by the file that each would have. It is
// written when an incident begins with it, and not before; without secrets, as what a
// probe keeps.
type pastes struct {
	p     *process.Program
	mu    sync.Mutex
	texts []pastedText
}

type pastedText struct{ file, text string }

// file names the file that a text would have, "" where it is no log.
func (k *pastes) file(text string) string {
	lines := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	state, err := k.p.StateDir()
	if lines < pastedLines || err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	t := pastedText{filepath.Join(state, "pasted", hex.EncodeToString(sum[:6])+".log"), text}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.texts = append(k.texts, t)
	k.texts = k.texts[max(0, len(k.texts)-pastedKept):]
	return t.file
}

// write writes the file that a parameter names, where it is one of a text.
func (k *pastes) write(given map[string]string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range given {
		for _, t := range k.texts {
			if t.file != v {
				continue
			}
			if err := k.keep(t); err != nil {
				return fmt.Errorf("keeping the text that was pasted as %s: %w", t.file, err)
			}
			return nil
		}
	}
	return nil
}

func (k *pastes) keep(t pastedText) error {
	team, err := settings.TeamRules(k.p)
	if err != nil {
		return err
	}
	s, err := redact.NewScrubber(settings.KnownSecrets(k.p), team)
	if err != nil {
		return err
	}
	dir := filepath.Dir(t.file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	k.sweep(dir)
	return os.WriteFile(t.file, []byte(s.Text(t.text)), 0o600)
}

// sweep removes what is old; what cannot be removed is tried again with the next text.
func (k *pastes) sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(k.p.Now().Add(-pastedFor)) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
