package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/triage"
)

const leaked = "correct-horse-battery-staple"

// A secret that only a gate knows of stays off the screen and off the disk,
// wherever the gate puts it.
func TestSecretsOfAGateStayHidden(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*world){
		"error of a preview": func(w *world) { w.previewFails = fmt.Errorf("dial: token %s refused", leaked) },
		"unmet": func(w *world) {
			w.unmet = []steps.Need{{Why: "token " + leaked + " is spent", Cure: "renew " + leaked}}
		},
		"owner":           func(w *world) { w.owners = []steps.Owner{{Name: "argo " + leaked, Paused: "yes", How: leaked}} },
		"debt":            func(w *world) { w.owes = []steps.Debt{{Kind: "unfinished", Text: "pay " + leaked}} },
		"after":           func(w *world) { w.after = []steps.KV{{Key: "lock", Value: "by " + leaked}} },
		"error of an act": func(w *world) { w.actFails = errors.New("sent " + leaked) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			st.w.secret = leaked
			set(st.w)
			s := st.start(t)
			ready(t, s)
			var seen []string
			note := func(err error) {
				seen = append(seen, fmt.Sprintf("%v %+v %+v", err, s.Snapshot().Gate, s.Snapshot().State))
			}
			note(s.Do(t.Context(), preview()))
			note(s.Do(t.Context(), confirm()))
			quiet(t, s)
			note(nil)
			if s.Snapshot().State.Gates[gateID].Phase == triage.GateUnknown {
				st.w.previewFails = errors.New("find: " + leaked)
				note(s.Do(t.Context(), preview()))
			}
			for _, text := range seen {
				if i := strings.Index(text, leaked); i >= 0 {
					t.Errorf("shown: ...%s...", text[max(0, i-80):i+len(leaked)])
				}
			}
			for _, dir := range []string{st.cfg.Dir, st.cfg.Acts} {
				err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					b, err := os.ReadFile(path)
					if strings.Contains(string(b), leaked) {
						t.Errorf("%s holds the secret", filepath.Base(path))
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
