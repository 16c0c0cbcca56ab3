package header

import (
	"strings"
	"testing"

	"handrail/session/view"
	"handrail/tui/incident"
	"handrail/tui/screen"
)

// TestChipSaysWhatClosesEveryGate, of the incident that is open and of the place on the
// screens before. What happens now goes over it.
func TestChipSaysWhatClosesEveryGate(t *testing.T) {
	t.Parallel()
	open := struct{ screen.Incident }{}
	for name, tc := range map[string]struct {
		incident screen.Incident
		snap     view.Snapshot
		w        int
		want     string
	}{
		"home":          {nil, view.Snapshot{}, 144, " READ-ONLY by --readonly "},
		"incident":      {open, view.Snapshot{ReadOnly: "context prod-eu"}, 144, " READ-ONLY by context prod-eu "},
		"other context": {open, view.Snapshot{}, 144, " READ-ONLY "},
		"no recording":  {open, view.Snapshot{ReadOnly: "context prod-eu", Dead: "disk full"}, 144, " NOT RECORDING "},
		"narrow":        {open, view.Snapshot{ReadOnly: "context prod-eu"}, 60, " READ-ONLY by context p… "},
		"long name":     {open, view.Snapshot{ReadOnly: "context " + strings.Repeat("x", 99)}, 144, " READ-ONLY by context xxxxxxxxxxxxxxx… "},
	} {
		env := &screen.Env{Config: screen.Config{ReadOnly: "--readonly"}, Incident: tc.incident, W: tc.w, Case: &incident.Case{Snap: tc.snap}}
		if got := string(Chip(env)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
