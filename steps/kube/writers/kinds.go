package writers

import (
	"handrail/steps"
	"handrail/steps/cluster"
)

// Kinds returns the kinds that say who may write.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/writers", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: facts(),
			Doc:     "Lists everything in the cluster that may write an object: owners, webhooks and policies that see it, autoscalers, accounts by RBAC and what runs as them; the likeliest first.",
			Touches: []string{"gets the object, of a Secret only metadata, and its namespace", "lists webhook configurations, admission policies, roles, bindings and autoscalers", "lists CronJobs, Jobs, workloads and Pods where an account that may write it lives"},
			Reads:   func(e steps.Env) steps.Prober { return probe{e} },
		},
		mayKind(),
	}
}

// mayKind is the row of kube/may.
func mayKind() steps.Kind {
	space := cluster.ObjectParams()[2]
	return steps.Kind{
		Name: "kube/may", Class: steps.Probe, Facts: mayFacts(),
		Params: []steps.Field{
			{Name: "account", Type: steps.String, Required: true, Pattern: mayAccount, Doc: "who: a service account as NAME, NAMESPACE/NAME or system:serviceaccount:NAMESPACE:NAME, else user/NAME or group/NAME"},
			{Name: "verb", Type: steps.String, Required: true, Pattern: mayVerb, Doc: "what it wants to do: get, create, patch"},
			{Name: "resource", Type: steps.String, Required: true, Pattern: mayResource, Doc: "to what, as kubectl takes it; a subresource as deployments/scale, which is a right of its own"},
			space,
			{Name: "name", Type: steps.String, Pattern: cluster.ObjectName, Doc: "to the one object of this name"},
			{Name: "role", Type: steps.String, Pattern: mayRoleName, Doc: "a role that the account is to get, as role/NAME or clusterrole/NAME: its rules are read, bound or not"},
		},
		Doc:     "Says whether an account may do something: asks the server (a review that stores nothing) and walks roles and bindings, and tells when the two disagree. Bindings that name a role that does not exist are named.",
		Touches: []string{"posts a SubjectAccessReview, or a local one", "lists roles and bindings of the cluster and of the namespace"},
		Reads:   func(e steps.Env) steps.Prober { return mayProbe{e} },
	}
}
