package owner

import (
	"handrail/steps"
	"handrail/steps/cluster"
)

// Kinds returns the kind that names owners.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/owners", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: facts(),
			Doc:     "Names the controllers that write an object and would undo a change: parents by UID, Argo CD, Flux and Helm, each with whether it is paused.",
			Touches: []string{"gets the object, its parents and the objects that track it"},
			Reads:   func(e steps.Env) steps.Prober { return probe{e} },
		},
	}
}
