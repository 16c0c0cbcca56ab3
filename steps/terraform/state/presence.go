package state

import (
	"context"
	"io"

	"handrail/steps"
)

// Presence is what a look at the world says of one recorded object.
type Presence struct {
	Known bool
	There bool
	Say   string // what was seen and where, or why nothing is known
}

// Live looks in the world for the objects that a state records under addresses,
// without any cache. It returns a Presence for each; an error means that it could
// not look at all. The world of terraform has none of its own: the code that puts the
// kinds together gives it one.
type Live func(ctx context.Context, env steps.Env, state io.ReadSeeker, addresses []string, out steps.Sink) (map[string]Presence, error)
