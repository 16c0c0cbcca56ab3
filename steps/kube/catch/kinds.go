package catch

import (
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
)

// Kinds returns the kind that watches for writers.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/catch", Class: steps.Probe, Params: cluster.ObjectParams(params(blame.FieldParam())...), Facts: facts(), Takes: takes,
			Doc:     "Watches an object or one field of it for a window, and says who wrote it, how often, and whether an earlier value is put back.",
			Touches: []string{"lists and watches the one object by its name, as metadata; whole where the value of a field is needed, never a Secret", "lists ConfigMaps of its namespace, for what the field is made from", "what kube/writers reads, where something wrote"},
			Reads:   func(e steps.Env) steps.Prober { return probe{e} },
		},
	}
}
