package session_test

import (
	"path/filepath"
	"testing"

	"handrail/evidence"
	"handrail/session"
	"handrail/triage"
)

// The name of the incident makes paths beside the bundle: a journal from
// elsewhere must not choose them.
func TestResumeRefusesAJournalOfAnotherIncident(t *testing.T) {
	t.Parallel()
	for _, incident := range []string{"../../elsewhere", "20261121-021400-test-lock-aaaa"} {
		st := newStage(t)
		path := st.start(t).Snapshot().Bundle
		dir, id := filepath.Dir(path), "20261121-031400-test-lock-bbbb"
		b, err := evidence.Create(dir, id, evidence.Options{Now: st.clk.Now, Keys: st.cfg.Keys, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		open := triage.Open{Incident: incident, Title: "t", Severity: triage.Sev3}
		if _, err := b.Append(t.Context(), evidence.Draft{Type: open.Type(), Actor: "op", Data: open}); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err := session.Resume(t.Context(), st.cfg, filepath.Join(dir, id+".hrb")); err == nil {
			_ = s.Close()
			t.Errorf("a bundle %q that tells of %q was resumed", id, incident)
		}
	}
}
