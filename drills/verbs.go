package drills

import (
	"context"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// verb is one kind of injection. The table is closed: a document can only ask
// for what stands here.
type verb struct {
	doc  string
	read func(p parser, args *yaml.Node) action
}

// action is a verb with its arguments. It changes the lab or the drill's own
// directory as robot, and returns when what it injected can be seen.
type action interface {
	apply(ctx context.Context, st *stage) error
}

// step is one injection of a scene.
type step struct {
	verb string
	act  action
}

func verbs() map[string]verb {
	return map[string]verb{
		"tofu.apply":     {doc: "starts an apply in an embedded workspace, and may kill it", read: readApply},
		"lease.backdate": {doc: "makes the lock of the state look older", read: readBackdate},
	}
}

func verbNames() []string { return slices.Sorted(maps.Keys(verbs())) }
