package runbooks

import (
	"testing"
	"time"

	"handrail/steps"
)

// TestAsideOfWhatDoesNotApply: a question and a gate about what a read found stand aside where
// that read does not apply, and wait for it where it does.
func TestAsideOfWhatDoesNotApply(t *testing.T) {
	t.Parallel()
	b := named(t, "stuck-finalizer")
	held := func(count int64) Vars { // facts.held hangs on facts.hold.count
		return Vars{Params: steps.Params{"finalizer": steps.StringOf("")}, Answers: map[string]string{},
			Facts: map[string]map[string]steps.Value{"hold": {"count": steps.IntOf(count)}, "stripped": {"exists": steps.BoolOf(false)}}}
	}
	read := held(0)
	read.Read = map[string]time.Time{"held": time.Date(2026, 11, 26, 2, 14, 0, 0, time.UTC)}
	for name, tc := range map[string]struct {
		v    Vars
		step string
		want bool
	}{
		"the question, and nothing was held": {held(0), "rest", true},
		"the gate, and nothing was held":     {held(0), "strip_rest", true},
		"the question, and it waits":         {held(2), "rest", false},
		"the gate, and it waits":             {held(2), "strip_rest", false},
		"it was read before":                 {read, "rest", false},
		"the read is not known to apply":     {Vars{}, "strip_rest", false},
	} {
		if got := b.Aside("stuck-finalizer/"+tc.step, tc.v) != ""; got != tc.want {
			t.Errorf("%s: aside is %v, want %v (%s)", name, got, tc.want, b.Aside("stuck-finalizer/"+tc.step, tc.v))
		}
	}
}
