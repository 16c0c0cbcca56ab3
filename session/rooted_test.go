package session_test

import (
	"path/filepath"
	"slices"
	"testing"

	"handrail/runbooks"
	"handrail/session"
	"handrail/steps/catalog"
)

// TestPathsBeginAtTheRoot: an incident that was opened with a relative path reads the
// same files when it is resumed in another directory.
func TestPathsBeginAtTheRoot(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.cfg.Catalog, st.cfg.Env.Dir = catalog.New(), t.TempDir()
	lib, err := runbooks.Library(st.cfg.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	rb := lib[slices.IndexFunc(lib, func(r *runbooks.Runbook) bool { return r.ID == "partial-apply" })]
	params, err := rb.Bind(map[string]string{"log": "logs/apply.log", "plan": "/kept/plan.json"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Start(t.Context(), st.cfg, session.Begin{Runbook: rb, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	bundle, root := s.Snapshot().Bundle, st.cfg.Env.Dir
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	st.cfg.Env.Dir = t.TempDir()
	if s, err = session.Resume(t.Context(), st.cfg, bundle); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, want := range map[string]string{"dir": root, "log": filepath.Join(root, "logs/apply.log"), "plan": "/kept/plan.json"} {
		if got := s.Snapshot().State.Plan().Params[name].Text(); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := params["dir"].Text(); got != "." {
		t.Errorf("what was given became %q", got)
	}
}
