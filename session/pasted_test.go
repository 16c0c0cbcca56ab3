package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session"
	"handrail/steps"
	"handrail/triage"
)

// TestPastedTextIsTheLog: a pasted text is kept redacted before anything else, and the
// parameter that stands for it names what was kept: at the start, and where it is given later.
func TestPastedTextIsTheLog(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2-hunter2"
	text := "Error: a\nexport TF_VAR_db_password=" + secret + "\nError: b\n"
	for name, later := range map[string]bool{"at the start": false, "later": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			rb, err := runbooks.Parse("test-lock.yaml", []byte(paramBook), st.w)
			if err != nil {
				t.Fatal(err)
			}
			st.rb = rb
			params, err := rb.Bind(map[string]string{"log": triage.Pasted})
			if err != nil {
				t.Fatal(err)
			}
			begin := session.Begin{Runbook: rb, Params: params, Pasted: text}
			if later {
				begin = session.Begin{Runbook: rb}
			}
			s, err := session.Start(t.Context(), st.cfg, begin)
			if err != nil {
				t.Fatal(err)
			}
			if later {
				do(t, s, triage.Intent{Kind: triage.DoPlan, Value: "test-lock", Params: map[string]string{"log": triage.Pasted}, Text: text})
			}
			snap := s.Snapshot()
			file := snap.State.Params("test-lock")["log"].Text()
			kept, err := os.ReadFile(file)
			if err != nil || !strings.HasPrefix(file, snap.Bundle+string(filepath.Separator)) {
				t.Fatalf("the log is %q in %s: %v", file, snap.Bundle, err)
			}
			if got := string(kept); strings.Contains(got, secret) || !strings.HasPrefix(got, "Error: a\nexport TF_VAR_db_password=") || !strings.HasSuffix(got, "\nError: b\n") {
				t.Errorf("kept as %q", got)
			}
			log, _ := snap.State.Step("test-lock/log")
			if log.Status == triage.Skipped {
				t.Error("the log is passed over")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := filepath.WalkDir(filepath.Dir(st.cfg.Dir), func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				raw, err := os.ReadFile(path)
				if strings.Contains(string(raw), secret) {
					t.Errorf("%s holds the secret", path)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
			if r, err := evidence.Verify(snap.Bundle); err != nil || !r.OK() {
				t.Errorf("Verify() = %+v, %v", r, err)
			}
		})
	}
}

// TestPastedTextIsKeptWithoutALog: also a runbook that reads no log begins with the text, and
// a log of its own is not replaced.
func TestPastedTextIsKeptWithoutALog(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s, err := session.Start(t.Context(), st.cfg, session.Begin{Runbook: st.rb, Params: steps.Params{}, Pasted: "Error: a\nError: b"})
	if err != nil {
		t.Fatal(err)
	}
	snap := s.Snapshot()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, list := range snap.Blobs {
		for _, b := range list {
			if b.Role == "pasted" {
				kept++
			}
		}
	}
	if kept != 1 {
		t.Errorf("%d texts are kept: %+v", kept, snap.Blobs)
	}
}
