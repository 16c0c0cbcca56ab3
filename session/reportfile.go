package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"handrail/session/report"
	"handrail/triage"
)

// ReportPath is where the one-page report of a bundle stands: beside it, since
// nothing inside a bundle may change once it is written.
func ReportPath(bundle string) string {
	return strings.TrimSuffix(bundle, ".hrb") + ".report.md"
}

// WriteReport writes the report of a state, by rename, so that a reader never
// sees half of it.
func WriteReport(bundle string, st triage.State) error {
	to := ReportPath(bundle)
	f, err := os.CreateTemp(filepath.Dir(to), ".report-*")
	if err != nil {
		return fmt.Errorf("writing the report of %s: %w", st.Incident, err)
	}
	defer os.Remove(f.Name()) // gone after the rename
	if err := report.Markdown(f, st); err != nil {
		_ = f.Close()
		return fmt.Errorf("writing the report of %s: %w", st.Incident, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing the report of %s: %w", st.Incident, err)
	}
	if err := os.Rename(f.Name(), to); err != nil {
		return fmt.Errorf("writing the report of %s: %w", st.Incident, err)
	}
	return nil
}
