package owner

import (
	"context"

	"handrail/steps"
	"handrail/steps/cluster"
)

// byHelm notes the Helm release that o belongs to. Helm writes when a person runs
// it and at no other time, so a release is no owner that would undo a change: a
// pause of it is a word with people.
func byHelm(_ context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, w *Ownership) error {
	if m := MarkersOf(o); m.Release != "" {
		w.find(steps.Info, "%s belongs to the Helm release %s: the next helm upgrade or rollback writes it again.", t, steps.Clip(m.Release, 300))
	}
	return nil
}
