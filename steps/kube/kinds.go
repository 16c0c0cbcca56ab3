package kube

import (
	"slices"

	"handrail/steps"
)

// The grammars of what names an object: what reaches a path or an argv.
const (
	resourceName  = `[A-Za-z0-9][A-Za-z0-9.-]*`
	objectName    = `[A-Za-z0-9][A-Za-z0-9._:@-]*`
	namespaceName = `[a-z0-9]([a-z0-9-]*[a-z0-9])?`
	finalizerName = `[A-Za-z0-9][A-Za-z0-9._/-]*`
	keeperName    = `[a-z]+(\.[a-z0-9.-]+)?/[a-z0-9][a-z0-9.-]*(/[a-z0-9][a-z0-9.-]*)?`
	selectorText  = `[A-Za-z0-9][A-Za-z0-9._/=!, ()-]*`
)

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	what := []steps.Field{
		{Name: "resource", Type: steps.String, Required: true, Pattern: resourceName, Doc: "resource as kubectl takes it: job, jobs.batch or jobs.v1.batch"},
		{Name: "name", Type: steps.String, Required: true, Pattern: objectName, Doc: "name of the one object"},
		{Name: "namespace", Type: steps.String, Pattern: namespaceName, Doc: "namespace, instead of that of the context"},
	}
	with := func(more ...steps.Field) []steps.Field { return append(what[:len(what):len(what)], more...) }
	uid := steps.Field{Name: "uid", Type: steps.Ident, Required: true, Doc: "UID of the object as it was read: another one is another object"}
	keeper := steps.Field{Name: "controller", Type: steps.String, Pattern: keeperName,
		Doc: "workload that keeps the finalizer, as deployment/NAMESPACE/NAME or deployment/NAME, where handrail does not know it"}
	return lookedAfter(anywhere(slices.Concat(blameKinds(what), sweepKinds(what), changeKinds(what, uid), workloadKinds(what), []steps.Kind{contextsKind(),
		{
			Name: "kube/get", Class: steps.Probe, Params: what, Facts: getFacts(),
			Doc:     "Reads one object whole: its identity, its finalizers and owners, who wrote it last, and whether it is being deleted.",
			Touches: []string{"gets the object"},
			Reads:   func(e steps.Env) steps.Prober { return getProbe{e} },
		},
		{
			Name: "kube/list", Class: steps.Probe, Facts: listFacts(),
			Doc: "Lists the objects of one resource in pages, as the columns that kubectl shows or as metadata.",
			Params: []steps.Field{
				what[0], what[2],
				{Name: "all_namespaces", Type: steps.Bool, Default: "false", Doc: "look in every namespace; a table asks each on its own, eight at once, metadata all at once"},
				{Name: "selector", Type: steps.String, Pattern: selectorText, Doc: "label selector"},
				{Name: "read", Type: steps.Enum, Values: []string{"table", "metadata"}, Default: "table", Doc: "table for the columns of kubectl, metadata for identity, labels and finalizers"},
			},
			Touches: []string{"lists the objects, in pages", "lists the namespaces, for a table of all"},
			Reads:   func(e steps.Env) steps.Prober { return listProbe{e} },
		},
		{
			Name: "kube/finalizers", Class: steps.Probe, Params: with(keeper), Facts: finalizersFacts(),
			Doc:     "Says what holds an object in deletion: who keeps each finalizer and whether that controller is alive, what would be left behind, and which objects it owns by UID.",
			Touches: []string{"gets the object and the workloads that keep its finalizers", "lists metadata of every resource of the namespace, to find children by UID", "lists API services"},
			Reads:   func(e steps.Env) steps.Prober { return finalizersProbe{e} },
		},
		{
			Name: "kube/owners", Class: steps.Probe, Params: what, Facts: ownersFacts(),
			Doc:     "Names the controllers that write an object and would undo a change: parents by UID, Argo CD, Flux and Helm, each with whether it is paused.",
			Touches: []string{"gets the object, its parents and the objects that track it"},
			Reads:   func(e steps.Env) steps.Prober { return ownersProbe{e} },
		},
		{
			Name: "kube/lookalikes", Class: steps.Probe, Params: what, Facts: lookalikesFacts(),
			Doc:     "Lists what could be taken for an object, with what tells each apart, and says whether the object itself is an orphan that nobody manages.",
			Touches: []string{"gets the object", "lists metadata of its resource, in its namespace and of its name in others", "lists metadata of its name among kinds that could be meant instead"},
			Reads:   func(e steps.Env) steps.Prober { return lookalikesProbe{e} },
		},
		{
			Name: "kube/strip-finalizer", Class: steps.Repair,
			Params:  with(uid, steps.Field{Name: "finalizer", Type: steps.String, Required: true, Pattern: finalizerName, Doc: "the one finalizer to remove"}, keeper),
			Doc:     "Removes one finalizer from one object. Refuses where its controller is alive or unknown, where somebody manages the object, and where the object is another one by UID.",
			Touches: []string{"patches the object with a JSON patch that tests its UID, its version and the finalizer"},
			Changes: func(e steps.Env) steps.Gater { return stripGate{e} },
		},
		{
			Name: "kube/delete", Class: steps.Repair, Params: with(uid, weakenFields()[0]),
			Doc:     "Deletes one object by name and UID, its children in the background. Refuses while a finalizer holds it or a controller manages it, and what limits other objects, unless the runbook says so.",
			Touches: []string{"deletes the object with preconditions on its UID and its version"},
			Changes: func(e steps.Env) steps.Gater { return deleteGate{e} },
		},
	})))
}

// lookedAfter has the target of every gate read again after its act.
func lookedAfter(kinds []steps.Kind) []steps.Kind {
	for i := range kinds {
		if kinds[i].Changes != nil {
			kinds[i].Again = againAfter
		}
	}
	return kinds
}
