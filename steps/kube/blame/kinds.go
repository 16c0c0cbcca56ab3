package blame

import (
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
)

// Kinds returns the kinds that say who wrote a field, and whether fields hold.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/blame", Class: steps.Probe, Params: cluster.ObjectParams(FieldParam()), Facts: facts(),
			Doc:     "Says who wrote a field of an object last, by its managedFields, and who would undo a change of it; cannot tell where the books do not say.",
			Touches: []string{"gets the object, of a Secret only metadata", "gets its parents and the objects that track it", "reads the server's description of its kind, for fields that are owned as a whole", "lists ConfigMaps of its namespace, for what a rewritten field is made from"},
			Reads:   func(e steps.Env) steps.Prober { return probe{e} },
		},
		{
			Name: "kube/signals", Class: steps.Probe, Facts: signalsFacts(),
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Doc: "file that describes the signals, as docs/writers.md says"},
				{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace of objects that name none, instead of that of the context"},
			},
			Doc:     "Says whether all the signals hold that an in-house reconciler waits for, each one field of one object, as your team described them in a file.",
			Touches: []string{"reads the file", "gets the objects that it names, of a Secret only metadata"},
			Reads:   func(e steps.Env) steps.Prober { return signalsProbe{e} },
		},
	}
}

// FieldParam is the parameter that names a field; without one a step is about the
// whole object.
func FieldParam() steps.Field {
	return steps.Field{Name: "field", Type: steps.String, Pattern: fieldpath.Pattern,
		Doc: "field, as spec.replicas, data.redis-host, metadata.labels[app.kubernetes.io/name] or spec.template.spec.containers[name=app].image; none for the whole object"}
}
