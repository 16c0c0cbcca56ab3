package stuck

import (
	"handrail/steps"
	"handrail/steps/cluster"
)

// Kinds returns the kinds that say what holds an object or a namespace.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/finalizers", Class: steps.Probe, Params: cluster.ObjectParams(ControllerParam()), Facts: finalizersFacts(),
			Doc:     "Says what holds an object in deletion: who keeps each finalizer and whether that controller is alive, what would be left behind, and which objects it owns by UID.",
			Touches: []string{"gets the object and the workloads that keep its finalizers", "lists metadata of every resource of the namespace, to find children by UID", "lists API services"},
			Reads:   func(e steps.Env) steps.Prober { return finalizersProbe{e} },
		},
		{
			Name: "kube/held", Class: steps.Probe, Facts: allHeldFacts(),
			Doc: "Lists all that hangs in deletion, in one namespace or everywhere, grouped by the finalizer that holds it.",
			Params: []steps.Field{
				{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "look in this namespace alone"},
				{Name: "finalizer", Type: steps.String, Pattern: cluster.FinalizerName, Doc: "list what this one holds"},
			},
			Touches: []string{"lists metadata of every resource"},
			Reads:   func(e steps.Env) steps.Prober { return allHeldProbe{e} },
		},
		{
			Name: "kube/namespace", Class: steps.Probe, Facts: namespaceFacts(),
			Doc: "Says what holds a namespace in deletion: a dead API service, a webhook that refuses, or objects with finalizers, each by name, and what of an older namespace of the name is still stored.",
			Params: []steps.Field{
				{Name: "name", Type: steps.String, Required: true, Pattern: cluster.NamespaceName, Doc: "name of the namespace"},
			},
			Touches: []string{"gets the namespace", "lists metadata of every resource in it", "lists API services, and webhook configurations where a webhook refuses"},
			Reads:   func(e steps.Env) steps.Prober { return namespaceProbe{e} },
		},
	}
}

// ControllerParam is the parameter that names the keeper of a finalizer.
func ControllerParam() steps.Field {
	return steps.Field{Name: "controller", Type: steps.String, Pattern: cluster.KeeperName,
		Doc: "workload that keeps the finalizer, as deployment/NAMESPACE/NAME or deployment/NAME, where handrail does not know it"}
}
