package terraform

import (
	"slices"
	"testing"

	"handrail/steps"
)

// TestFirstApplyElsewhere: what a first apply that was killed leaves on a backend which writes no
// empty state is nothing. A plan starts from that, and leaves it so.
func TestFirstApplyElsewhere(t *testing.T) {
	t.Parallel()
	for _, rig := range []func(*testing.T) *lockRig{httpRig, consulRig, lockFileRig} {
		r := rig(t)
		plan := r.w.probe("terraform/plan", steps.Params{"refresh": steps.BoolOf(false)})
		if got := plan.Facts["creates"].Strings(); len(got) == 0 || slices.Contains(got, "") {
			t.Errorf("%s: a plan from nothing creates %v", r.name, got)
		}
		if is := r.w.probe("terraform/state", nil).Facts["exists"]; is.Bool() || !is.Known() {
			t.Errorf("%s: the plan made a state: %v", r.name, is)
		}
		if is := r.w.probe("terraform/lock", nil).Facts["held"]; is.Bool() {
			t.Errorf("%s: the plan left a lock", r.name)
		}
	}
}

func lockFileRig(t *testing.T) *lockRig {
	return s3Rig(t, "s3, lock file", "use_lockfile = true", true, false)
}
