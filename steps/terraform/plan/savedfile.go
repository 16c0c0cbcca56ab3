package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/tfplan"
)

// FileName is the name of a kept plan, in a directory of its own.
const FileName = "plan"

// plansFor is how long the plan of an incident that was never closed is kept. By
// then no tool takes it any more.
const plansFor = 7 * 24 * time.Hour

// place makes the directory of the plan, and removes what will not be applied.
func (m *planRun) place() error {
	private := m.env.Private
	sweepPlans(filepath.Dir(private), filepath.Base(private), m.env.Now().Add(-plansFor))
	if err := os.MkdirAll(private, 0o700); err != nil {
		return fmt.Errorf("place for the plan: %w", err)
	}
	dir, err := os.MkdirTemp(private, "plan-")
	if err != nil {
		return fmt.Errorf("place for the plan: %w", err)
	}
	m.file = filepath.Join(dir, FileName)
	return nil
}

// sweepPlans removes plans of other incidents that are older than a time.
func sweepPlans(root, keep string, before time.Time) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && e.Name() != keep && info.ModTime().Before(before) {
			_ = os.RemoveAll(filepath.Join(root, e.Name())) // the next one tries again
		}
	}
}

// OpenSaved opens a saved plan and sums it up. The caller closes the file.
func OpenSaved(ctx context.Context, name string) (*os.File, string, *tfplan.Saved, error) {
	file, err := steps.OpenRegular(name)
	if err != nil {
		return nil, "", nil, fmt.Errorf("plan: %w", err)
	}
	sum, err := DigestOf(ctx, file)
	var saved *tfplan.Saved
	var info os.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if err == nil {
		saved, err = tfplan.OpenSaved(file, info.Size())
	}
	if err != nil {
		return nil, sum, nil, errors.Join(fmt.Errorf("plan %s: %w", name, err), file.Close())
	}
	return file, sum, saved, nil
}

// Incomplete says why a saved plan cannot be held to what it would do, "" where
// it can.
func Incomplete(s *tfplan.Saved, refresh bool) string {
	d := s.Doc
	switch {
	case !d.Whole:
		return d.Broken
	case d.Errored:
		return "the plan is of a run that ended in an error: it is not whole"
	case d.Newer != "":
		return d.Newer
	case d.Count[tfplan.Strange] > 0:
		return "the plan holds an action that handrail does not know"
	case d.Cut > 0:
		return fmt.Sprintf("%d changes of the plan are over what handrail lists", d.Cut)
	case refresh != (s.Mode == "refresh-only"):
		return fmt.Sprintf("the plan has the mode %s", s.Mode)
	}
	return ""
}
