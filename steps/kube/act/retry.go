package act

import (
	"context"

	"handrail/steps/cluster"
	"handrail/steps/kube/object"
)

const (
	// KeyRest is what of an object may not move between reading and act.
	KeyRest = "content but status"
	// mostTries bounds how often one act is sent: each time but the last it was
	// refused as a whole.
	mostTries = 3
)

// ContentBut is a short digest of all of an object but what beats by itself.
func ContentBut(o cluster.Object, r cluster.Resource) (string, error) {
	sum, err := object.ContentSum(o, r)
	if err != nil {
		return "", err
	}
	return sum[:16], nil
}

// beats reports whether an object that refused an act has another version only
// because its status moved, and takes that version into the order. An object
// whose controller reports every few seconds could never be changed else. A
// Secret is not among them: its version stands for its values.
func beats(ctx context.Context, c *cluster.Client, o *Order) bool {
	if o.rest == "" || ctx.Err() != nil {
		return false
	}
	now, err := SightAt(ctx, c, *o)
	if err != nil || now.Absent || now.Other != "" || now.ResourceVersion == o.Version || !cluster.Matches(cluster.VersionText, now.ResourceVersion) {
		return false
	}
	is, err := cluster.ParseObject(now.Raw)
	if err != nil {
		return false
	}
	if same, err := ContentBut(is, cluster.Resource{}); err != nil || same != o.rest {
		return false
	}
	o.Version = now.ResourceVersion
	return true
}
