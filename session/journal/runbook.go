package journal

import (
	"fmt"
	"io"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/triage"
)

// Runbook reads a runbook as it was when the incident took it up, never today's
// embedded file.
func Runbook(r *evidence.Reader, p triage.Plan, catalog steps.Catalog) (*runbooks.Runbook, error) {
	f, err := r.OpenBlob(p.Blob)
	if err != nil {
		return nil, fmt.Errorf("runbook %s: %w", p.Runbook, err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("runbook %s: %w", p.Runbook, err)
	}
	rb, err := runbooks.Parse(p.Runbook+".yaml", src, catalog)
	if err != nil {
		return nil, fmt.Errorf("runbook %s as stored in the bundle: %w", p.Runbook, err)
	}
	return rb, nil
}
