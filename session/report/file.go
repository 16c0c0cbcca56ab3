package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"handrail/triage"
)

// Path is where the one-page report of a bundle stands: beside it, since
// nothing inside a bundle may change once it is written.
func Path(bundle string) string {
	return strings.TrimSuffix(bundle, ".hrb") + ".report.md"
}

// Write writes the report of a state, by rename, so that a reader never
// sees half of it.
func Write(bundle string, st triage.State) error {
	to := Path(bundle)
	f, err := os.CreateTemp(filepath.Dir(to), ".report-*")
	if err != nil {
		return fmt.Errorf("writing the report of %s: %w", st.Incident, err)
	}
	defer os.Remove(f.Name()) // gone after the rename
	if err := Markdown(f, st); err != nil {
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
