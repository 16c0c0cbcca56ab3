package session_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"handrail/session"
	"handrail/session/report"
	"handrail/steps"
	"handrail/triage"
)

// secretThing is an object that holds a secret, as a gate would put it back.
func secretThing() *steps.Prior {
	return &steps.Prior{Media: steps.MediaKubernetes, Back: "kubectl create -f -",
		Raw: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"password":"` + base64.StdEncoding.EncodeToString([]byte(leaked)) + `"}}`)}
}

func plainThing() *steps.Prior {
	return &steps.Prior{Media: steps.MediaKubernetes, Back: "kubectl create -f -",
		Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"flags","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"data":{"colour":"blue","replicas":"3"}}`)}
}

// key makes a recipient who can read what is kept, and names them.
func (st *stage) key(t *testing.T) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	st.cfg.UndoTo = func() ([]string, error) { return []string{id.Recipient().String()}, nil }
	return id
}

// clean fails where a planted secret lies anywhere below dir, in clear or in base64.
func clean(t *testing.T, dir string, planted ...string) {
	t.Helper()
	var forms [][]byte
	for _, p := range planted {
		forms = append(forms, []byte(p), []byte(base64.StdEncoding.EncodeToString([]byte(p)))[:12])
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, f := range forms {
			if bytes.Contains(b, f) {
				t.Errorf("%s holds the secret", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func unlocked(t *testing.T, path string, id age.Identity) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := age.Decrypt(f, id)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What holds a secret is kept encrypted outside the bundle before the act, and
// the journal, the screen and the report say where.
func TestUndoIsKeptEncrypted(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.prior = secretThing()
	id := st.key(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	if u := s.Snapshot().Gate.Preview.Undo; !strings.Contains(u, "age -d -i KEY FILE | kubectl create -f -") || !strings.Contains(u, st.cfg.Undo) {
		t.Errorf("before the act: %q", u)
	}
	if _, err := os.Stat(st.cfg.Undo); !errors.Is(err, os.ErrNotExist) {
		t.Error("a preview keeps a copy")
	}
	do(t, s, confirm())
	snap := s.Snapshot()
	kept := snap.State.Gates[gateID].Kept
	if snap.State.Gates[gateID].Phase != triage.GateDone || kept == nil {
		t.Fatalf("gate = %+v", snap.State.Gates[gateID])
	}
	if got := unlocked(t, kept.Path, id); got != string(st.w.prior.Raw) {
		t.Errorf("the copy = %q", got)
	}
	if len(kept.Recipients) != 1 || kept.Recipients[0] != id.Recipient().String() || len(kept.SHA256) != 64 || kept.Bytes == "" ||
		kept.Command != "age -d -i KEY "+kept.Path+" | kubectl create -f -" {
		t.Errorf("the journal says %+v", kept)
	}
	if u := snap.Gate.Preview.Undo; !strings.Contains(u, kept.Command) || strings.Contains(u, "FILE") {
		t.Errorf("after the act: %q", u)
	}
	st.reported(t, s, kept.Command, kept.SHA256, kept.Recipients[0])
	clean(t, filepath.Dir(st.cfg.Dir), leaked)
}

// reported fails where the report lacks a text.
func (st *stage) reported(t *testing.T, s *session.Session, want ...string) {
	t.Helper()
	var md bytes.Buffer
	if err := report.Markdown(&md, s.Snapshot().State); err != nil {
		t.Fatal(err)
	}
	for _, text := range want {
		if !strings.Contains(md.String(), text) {
			t.Errorf("the report does not say %q:\n%s", text, md.String())
		}
	}
}

// Where nothing is secret the artifact of the bundle is what undoes the act.
func TestUndoFromTheBundle(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.prior = plainThing()
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, confirm())
	kept := s.Snapshot().State.Gates[gateID].Kept
	if kept == nil || kept.Path != "" {
		t.Fatalf("kept = %+v", kept)
	}
	path := filepath.Join(s.Snapshot().Bundle, "blobs", "sha256", kept.Blob[:2], kept.Blob)
	if kept.Command != "kubectl create -f - < "+path || !strings.Contains(s.Snapshot().Gate.Preview.Undo, kept.Command) {
		t.Errorf("command = %q, shown %q", kept.Command, s.Snapshot().Gate.Preview.Undo)
	}
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), `"colour": "blue"`) {
		t.Errorf("the artifact = %q, %v", b, err)
	}
	if _, err := os.Stat(st.cfg.Undo); !errors.Is(err, os.ErrNotExist) {
		t.Error("there is an encrypted copy of what is no secret")
	}
}

// Without a recipient a gate whose target holds a secret stays shut, until one
// is named: nothing must be opened again for that.
func TestUndoWithoutARecipient(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]func() ([]string, error){
		"no reader": nil,
		"an error":  func() ([]string, error) { return nil, errors.New("recipients.txt:3: not understood") },
		"not one":   func() ([]string, error) { return []string{"age1nobody"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			st.w.prior = secretThing()
			now := to
			st.cfg.UndoTo = func() ([]string, error) {
				if now == nil {
					return nil, nil
				}
				return now()
			}
			st.cfg.UndoHelp = "write one into recipients.txt"
			s := st.start(t)
			ready(t, s)
			err := s.Do(t.Context(), preview())
			var refused *triage.Refused
			if !errors.As(err, &refused) || !strings.Contains(refused.Refusals[0].Why, "undo cannot be kept") {
				t.Fatalf("Do(preview) = %v", err)
			}
			if to == nil && !strings.Contains(refused.Refusals[0].Cure, "recipients.txt") {
				t.Errorf("cure = %q", refused.Refusals[0].Cure)
			}
			id, err := age.GenerateX25519Identity()
			if err != nil {
				t.Fatal(err)
			}
			now = func() ([]string, error) { return []string{id.Recipient().String()}, nil }
			do(t, s, preview())
			now = nil // lost again before the act
			if err := s.Do(t.Context(), confirm()); !errors.As(err, &refused) || st.w.acts != 0 {
				t.Errorf("Do(confirm) = %v after %d acts", err, st.w.acts)
			}
			clean(t, filepath.Dir(st.cfg.Dir), leaked)
		})
	}
}

// What need not be restored does not close a gate.
func TestUndoThatIsOptional(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.prior = secretThing()
	st.w.prior.Optional = true
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	if u := s.Snapshot().Gate.Preview.Undo; !strings.Contains(u, "No copy is kept") {
		t.Errorf("undo = %q", u)
	}
	do(t, s, confirm())
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateDone || g.Kept != nil {
		t.Errorf("gate = %+v", g)
	}
}

// A target that is written after its copy was kept is not acted on: the copy
// would not be what was lost.
func TestUndoMovesBeforeTheAct(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.prior = plainThing()
	st.w.onRead = func(n int, w *world) {
		if n == 3 { // preview, re-read, and the last one in the executor
			w.prior = plainThing()
			w.prior.Raw = bytes.ReplaceAll(w.prior.Raw, []byte("blue"), []byte("red"))
		}
	}
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, confirm())
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateRefused || st.w.acts != 0 || !strings.Contains(g.Response, "nothing was sent") {
		t.Errorf("gate = %s %q after %d acts", g.Phase, g.Response, st.w.acts)
	}
}

// A copy that cannot be written keeps the act from beginning.
func TestUndoThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.prior = secretThing()
	st.key(t)
	if err := os.WriteFile(st.cfg.Undo, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	var refused *triage.Refused
	if err := s.Do(t.Context(), confirm()); !errors.As(err, &refused) || !strings.Contains(refused.Refusals[0].Why, "keeping undo material") || st.w.acts != 0 {
		t.Errorf("Do(confirm) = %v after %d acts", err, st.w.acts)
	}
}
