package inject

import (
	"context"

	"handrail/drills/stage"
)

// The bucket of a drill, and the state in it.
const (
	bucketName = "team-states"
	bucketKey  = "shop/production.tfstate"
)

// runBucket is the verb bucket.run: the state of the drill is in a bucket, so that it needs no
// cluster.
type runBucket struct{}

func (runBucket) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("serving a bucket for the state, on loopback")
	return st.ServeBucket(ctx, bucketName, bucketKey)
}
