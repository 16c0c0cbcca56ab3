package kube

import "handrail/steps"

// blameField is the grammar of a field as a parameter; steps/kube/fieldpath reads
// it.
const blameField = `[^\x00-\x1f]{0,1000}`

// blameKinds returns the kinds that say who writes an object.
func blameKinds(what []steps.Field) []steps.Kind {
	field := steps.Field{Name: "field", Type: steps.String, Pattern: blameField,
		Doc: "field, as spec.replicas, data.redis-host, metadata.labels[app.kubernetes.io/name] or spec.template.spec.containers[name=app].image; none for the whole object"}
	with := func(more ...steps.Field) []steps.Field { return append(what[:len(what):len(what)], more...) }
	return []steps.Kind{
		{
			Name: "kube/blame", Class: steps.Probe, Params: with(field), Facts: blameFacts(),
			Doc:     "Says who wrote a field of an object last, by its managedFields, and who would undo a change of it; cannot tell where the books do not say.",
			Touches: []string{"gets the object, of a Secret only metadata", "gets its parents and the objects that track it", "reads the server's description of its kind, for fields that are owned as a whole", "lists ConfigMaps of its namespace, for what a rewritten field is made from"},
			Reads:   func(e steps.Env) steps.Prober { return blameProbe{e} },
		},
		{
			Name: "kube/writers", Class: steps.Probe, Params: what, Facts: writersFacts(),
			Doc:     "Lists everything in the cluster that may write an object: owners, webhooks and policies that see it, autoscalers, accounts by RBAC and what runs as them; the likeliest first.",
			Touches: []string{"gets the object, of a Secret only metadata, and its namespace", "lists webhook configurations, admission policies, roles, bindings and autoscalers", "lists CronJobs, Jobs, workloads and Pods where an account that may write it lives"},
			Reads:   func(e steps.Env) steps.Prober { return writersProbe{e} },
		},
		{
			Name: "kube/catch", Class: steps.Probe, Params: with(catchParams(field)...), Facts: catchFacts(), Takes: catchTakes,
			Doc:     "Watches an object or one field of it for a window, and says who wrote it, how often, and whether somebody puts an earlier value back.",
			Touches: []string{"lists and watches the one object by its name, as metadata; whole where the value of a field is needed, never a Secret", "lists ConfigMaps of its namespace, for what the field is made from", "what kube/writers reads, where something wrote"},
			Reads:   func(e steps.Env) steps.Prober { return catchProbe{e} },
		},
		{
			Name: "kube/signals", Class: steps.Probe, Facts: signalsFacts(),
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Required: true, Doc: "file that describes the signals, as docs/writers.md says"},
				{Name: "namespace", Type: steps.String, Pattern: namespaceName, Doc: "namespace of objects that name none, instead of that of the context"},
			},
			Doc:     "Says whether all the signals hold that an in-house reconciler waits for, each one field of one object, as your team described them in a file.",
			Touches: []string{"reads the file", "gets the objects that it names, of a Secret only metadata"},
			Reads:   func(e steps.Env) steps.Prober { return signalsProbe{e} },
		},
	}
}
