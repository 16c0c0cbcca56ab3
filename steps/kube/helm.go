package kube

import (
	"context"

	"handrail/steps"
)

// helm notes the Helm release that o belongs to. Helm writes when somebody runs
// it and at no other time, so a release is no owner that would undo a change: a
// pause of it is a word with people.
func (c *client) helm(_ context.Context, t target, o object, w *ownership) error {
	if m := markersOf(o); m.release != "" {
		w.find(steps.Info, "%s belongs to the Helm release %s: the next helm upgrade or rollback writes it again.", t, clip(m.release, 300))
	}
	return nil
}
