package kube

import (
	"context"

	"handrail/steps"
)

// byHelm notes the Helm release that o belongs to. Helm writes when somebody runs
// it and at no other time, so a release is no owner that would undo a change: a
// pause of it is a word with people.
func byHelm(_ context.Context, c *client, t target, o object, w *ownership) error {
	if m := markersOf(o); m.release != "" {
		w.find(steps.Info, "%s belongs to the Helm release %s: the next helm upgrade or rollback writes it again.", t, steps.Clip(m.release, 300))
	}
	return nil
}
