package run

import (
	"strings"
	"testing"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/ink"
)

// TestManualStepOfADrillSaysWhere: a node that cannot be found
// cannot be worked on.
func TestManualStepOfADrillSaysWhere(t *testing.T) {
	t.Parallel()
	th := ink.NewTheme(ink.ThemeAuto, ink.DarkGround)
	const where = "The disk of node worker is the folder /tmp/node."
	for _, tc := range []struct {
		status triage.Status
		card   view.Card
		want   bool
	}{
		{triage.Pending, view.Card{Practice: where}, true},
		{triage.Settled, view.Card{Practice: where}, false},
		{triage.Pending, view.Card{}, false},
	} {
		p := ink.Page{W: 120, Theme: &th}
		(&Screen{}).drawManual(&p, triage.Step{PlanStep: triage.PlanStep{ID: "a/b", Kind: triage.ManualStep}, Status: tc.status}, tc.card)
		var all strings.Builder
		for _, r := range p.Rows {
			all.WriteString(string(r) + "\n")
		}
		if got := strings.Contains(all.String(), where); got != tc.want {
			t.Errorf("%s with %q: drawn %v", tc.status, tc.card.Practice, got)
		}
	}
}
