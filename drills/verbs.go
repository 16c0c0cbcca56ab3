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
	doc    string
	module bool // it works in a root module, with tofu
	read   func(p parser, args *yaml.Node) action
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
		"tofu.apply":     {doc: "starts an apply in an embedded workspace, and may kill it", module: true, read: readApply},
		"lease.backdate": {doc: "makes the lock of the state look older", module: true, read: readBackdate},
		"kube.create":    {doc: "creates the objects of a file beside the drill", read: readCreate},
		"kube.delete":    {doc: "asks for the deletion of one object", read: readDelete},
		"kube.recreate":  {doc: "deletes one object and creates it again as the file has it, under a new UID", read: readRecreate},
		"kube.ready":     {doc: "lets a Deployment have one Pod that is ready", read: readReady},
	}
}

func verbNames() []string { return slices.Sorted(maps.Keys(verbs())) }
