package change

import (
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/stuck"
)

// Kinds returns the gates that change one named object.
func Kinds() []steps.Kind {
	uid := steps.Field{Name: "uid", Type: steps.Ident, Required: true, Doc: "UID of the object as it was read: another one is another object"}
	with := func(more ...steps.Field) []steps.Field { return append(cluster.ObjectParams(uid), more...) }
	ops := steps.Field{Name: "patch", Type: steps.String, Required: true,
		Doc: "list of operations as JSON or YAML: {op: add|replace|remove, path: /spec/…, value: …}; an item of a list is [name=…] or [=value], or - for the end"}
	tested := "patches the object with a JSON patch that tests its UID, its version and each old value"
	kinds := []steps.Kind{
		{
			Name: "kube/patch", Class: steps.Repair, Params: with(append([]steps.Field{ops, afterField()}, weakenFields()...)...),
			Doc:     "Changes named fields of one object. Refuses identity, status, finalizers, owners, what can never be changed, and fields that another writer owns. Takes nothing away and opens nothing but where the runbook says so.",
			Touches: []string{tested},
			Changes: newPatchGate,
		},
		{
			Name: "kube/create", Class: steps.Repair,
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Required: true, Doc: "manifest of one object, as YAML or JSON"},
				{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace, where the manifest has none"},
				weakenFields()[1],
			},
			Doc:     "Makes one object from a manifest. Refuses what is there already, what admission would make something else of, and what opens more than the runbook says.",
			Touches: []string{"creates the object"},
			Changes: func(e steps.Env) steps.Gater { return createGate{env: e} },
		},
		{
			Name: "kube/recreate", Class: steps.Repair, Params: with(append([]steps.Field{ops, afterField()}, weakenFields()...)...),
			Doc:     "Deletes one object and makes it again with another value of what can never be changed, such as a roleRef or a storage class. Puts the old one back where the new one cannot be made. Takes nothing away and opens nothing but where the runbook says so.",
			Touches: []string{"deletes the object with preconditions on its UID and its version", "creates it again, changed", "creates it as it was, where that fails"},
			Changes: func(e steps.Env) steps.Gater { return recreateGate{e} },
		},
		{
			Name: "kube/suspend", Class: steps.Contain, Params: with(reasonField()),
			Doc:     "Pauses one CronJob, Job, Argo CD Application, Flux object or ExternalSecret, and writes on it in which incident, why and until when.",
			Touches: []string{tested},
			Changes: newSuspendGate,
		},
		{
			Name: "kube/resume", Class: steps.Rerun, Params: with(afterField()),
			Doc:     "Lets one paused CronJob, Job, Argo CD Application or Flux object go on: it runs or writes by itself from then on.",
			Touches: []string{tested},
			Changes: newResumeGate,
		},
		{
			Name: "kube/restart", Class: steps.Repair, Params: with(),
			Doc:     "Lets one Deployment, StatefulSet or DaemonSet replace its Pods, as kubectl rollout restart does.",
			Touches: []string{tested},
			Changes: newRestartGate,
		},
		{
			Name: "kube/delete-webhook", Class: steps.Repair, Params: with(),
			Doc:     "Deletes one webhook configuration, and says first what it protects and who installed it.",
			Touches: []string{"deletes the configuration with preconditions on its UID and its version"},
			Changes: func(e steps.Env) steps.Gater { return webhookDeleteGate{deleteGate{e, true}} },
		},
		{
			Name: "kube/delete-policy", Class: steps.Repair, Params: with(),
			Doc:     "Deletes one binding of an admission policy, mutating or validating, or a policy that nothing binds, and says first what it decides over.",
			Touches: []string{"deletes the object with preconditions on its UID and its version", "lists the bindings, for a policy"},
			Changes: func(e steps.Env) steps.Gater { return policyDeleteGate{deleteGate{e, true}} },
		},
		{
			Name: "kube/except-policy", Class: steps.Repair,
			Params: with(
				steps.Field{Name: "object_resource", Type: steps.String, Required: true, Pattern: cluster.ResourceName, Doc: "resource of the object that is left out, as kubectl takes it"},
				steps.Field{Name: "object", Type: steps.String, Required: true, Pattern: cluster.ObjectName, Doc: "name of the object that is left out"},
				steps.Field{Name: "object_namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "its namespace, empty for what has none"},
				steps.Field{Name: "days", Type: steps.Int, Default: "14", Doc: "how many days the exception is meant to last, 1 to 90: its last day stands in the name of the condition"},
				steps.Field{Name: "label", Type: steps.String, Doc: "for a constraint of Gatekeeper: a label of the object that nothing else carries, as key=value"},
			),
			Doc:     "Takes one object out of one admission policy until a day, by a match condition whose name holds that day; out of a constraint of Gatekeeper by a label that it alone carries, and an annotation with the day. Every other object is judged as before.",
			Touches: []string{tested, "for a constraint: gets the object, and lists what carries its label"},
			Changes: newExceptGate,
		},
		{
			Name: "kube/narrow-webhook", Class: steps.Repair,
			Params: with(
				steps.Field{Name: "webhook", Type: steps.String, Required: true, Pattern: cluster.ObjectName, Doc: "name of the one entry"},
				steps.Field{Name: "to", Type: steps.Enum, Values: []string{"exclude", "ignore"}, Default: "exclude", Doc: "exclude leaves one namespace alone, ignore lets requests pass where the webhook cannot be asked"},
				steps.Field{Name: "exclude", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace that it shall leave alone"},
			),
			Doc:     "Takes one webhook of a configuration back: it leaves one namespace alone, or lets requests pass where it cannot be asked.",
			Touches: []string{tested},
			Changes: newNarrowGate,
		},
		{
			Name: "kube/strip-finalizer", Class: steps.Repair,
			Params: with(steps.Field{Name: "finalizer", Type: steps.String, Required: true, Pattern: cluster.FinalizerName, Doc: "the one finalizer to remove"}, stuck.ControllerParam(),
				steps.Field{Name: "keeper", Type: steps.Enum, Values: []string{stuck.KeeperSeen, stuck.KeeperOutside, stuck.KeeperUnknown}, Default: stuck.KeeperSeen,
					Doc: "what a person says of a controller that cannot be seen in a cluster that was looked through whole; any but seen takes a waiver by name"}),
			Doc:     "Removes one finalizer from one object. Refuses where its controller is alive or unknown, but for one that a person says is not in this cluster, where the object is managed, and where the object is another one by UID.",
			Touches: []string{"patches the object with a JSON patch that tests its UID, its version and the finalizer"},
			Changes: func(e steps.Env) steps.Gater { return stripGate{e} },
		},
		{
			Name: "kube/strip-batch", Class: steps.Repair,
			Params: []steps.Field{
				{Name: "uids", Type: steps.Table, Required: true, Doc: "the objects, as resource/namespace/name or resource/name, each with its UID as it was read"},
				{Name: "finalizers", Type: steps.Table, Doc: "the finalizer to remove from each of them, where it is not one for all"},
				{Name: "finalizer", Type: steps.String, Pattern: cluster.FinalizerName, Doc: "the one finalizer to remove from each"},
				stuck.ControllerParam(),
			},
			Doc:     "Removes one finalizer from each of several objects, at most 40 at a time, by one phrase that carries how many they are. Holds each to all that kube/strip-finalizer wants, refuses what is not an orphan, and stops at the first surprise.",
			Touches: []string{"patches each object with a JSON patch that tests its UID, its version and the finalizer"},
			Changes: func(e steps.Env) steps.Gater { return stripBatchGate{e} },
		},
		{
			Name: "kube/suspend-batch", Class: steps.Contain, Params: []steps.Field{namedField(), reasonField()},
			Doc:     "Pauses several CronJobs, Jobs, Argo CD Applications, Flux objects or ExternalSecrets, at most 40 at a time, by one phrase that carries how many they are. Holds each to all that kube/suspend wants, passes over what is paused, and stops at the first surprise.",
			Touches: []string{"patches each object with a JSON patch that tests its UID, its version and each old value"},
			Changes: newSuspendBatch,
		},
		{
			Name: "kube/stop-batch", Class: steps.Contain, Params: []steps.Field{namedField()},
			Doc:     "Takes all Pods from several Deployments, StatefulSets or ReplicaSets, at most 40 at a time, by one phrase that carries how many they are. Names the autoscalers that would undo it, passes over what has none, and stops at the first surprise.",
			Touches: []string{"patches the subresource scale of each object, testing its UID, its version and the old number", "lists the autoscalers of its namespace"},
			Changes: newStopBatch,
		},
		{
			Name: "kube/delete-batch", Class: steps.Repair, Params: []steps.Field{namedField()},
			Doc:     "Deletes several objects, at most 40 at a time, by one phrase that carries how many they are. Holds each to all that kube/delete, kube/delete-webhook or kube/delete-policy wants, and stops at the first surprise.",
			Touches: []string{"deletes each object with preconditions on its UID and its version"},
			Changes: newDeleteBatch,
		},
		{
			Name: "kube/change-batch", Class: steps.Repair,
			Params: append([]steps.Field{
				namedField(),
				{Name: "changes", Type: steps.Path, Required: true, Doc: "file with the list of changes; see docs/writers.md"},
				{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace of what names none"},
				{Name: "settle", Type: steps.Duration, Default: "30s", Doc: "how long each change must last before the next one is made"},
			}, weakenFields()...),
			Doc:     "Makes the changes of a list, at most 40 at a time, in its order and by one phrase. Holds each to all that kube/patch or kube/create wants, reads it again once it had time to be undone, and stops at the first surprise.",
			Touches: []string{"patches each object with a JSON patch that tests its UID, its version and each old value", "creates those that the list makes"},
			Changes: newChangeBatch,
		},
		{
			Name: "kube/delete", Class: steps.Repair, Params: with(weakenFields()[0]),
			Doc:     "Deletes one object by name and UID, its children in the background. Refuses while a finalizer holds it or a controller manages it, and what limits other objects, unless the runbook says so.",
			Touches: []string{"deletes the object with preconditions on its UID and its version"},
			Changes: func(e steps.Env) steps.Gater { return deleteGate{env: e} },
		},
	}
	for i := range kinds {
		kinds[i].Again = act.RereadAfter // the target of every gate is read again after its act
	}
	return kinds
}
