package writers

import (
	"handrail/steps"
	"handrail/steps/cluster"
)

// Kinds returns the kinds that say who may write.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/writers", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: writersFacts(),
			Doc:     "Lists everything in the cluster that may write an object: owners, webhooks and policies that see it, autoscalers, accounts by RBAC and what runs as them; the likeliest first.",
			Touches: []string{"gets the object, of a Secret only metadata, and its namespace", "lists webhook configurations, admission policies, roles, bindings and autoscalers", "lists CronJobs, Jobs, workloads and Pods where an account that may write it lives"},
			Reads:   func(e steps.Env) steps.Prober { return writersProbe{e} },
		},
		mayKind(),
	}
}
