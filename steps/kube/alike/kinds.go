package alike

import (
	"handrail/steps"
	"handrail/steps/cluster"
)

// Kinds returns the kind that lists look-alikes.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/lookalikes", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: lookalikesFacts(),
			Doc:     "Lists what could be taken for an object, with what tells each apart, and says whether the object itself is an unmanaged orphan.",
			Touches: []string{"gets the object", "lists metadata of its resource, in its namespace and of its name in others", "lists metadata of its name among kinds that could be meant instead", "lists workloads, services, volumes, bindings, hooks or custom resources of its resource, to compare their specs"},
			Reads:   func(e steps.Env) steps.Prober { return lookalikesProbe{e} },
		},
	}
}
