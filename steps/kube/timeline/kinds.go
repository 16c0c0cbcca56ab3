package timeline

import (
	"handrail/steps"
	"handrail/steps/cluster"
)

// Kinds are the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{{
		Name: "kube/timeline", Class: steps.Probe, Facts: facts(),
		Params: []steps.Field{
			{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "only what has to do with this namespace, and what is in none; the whole cluster by default"},
			{Name: "since", Type: steps.Duration, Default: "6h", Doc: "how far back"},
			{Name: "clone", Type: steps.Path, Doc: "a local clone whose commits are part of it; it is read, and nothing of it runs"},
		},
		Doc: "Says what changed in the last hours, in one timeline: commits of a clone, deployments and conditions of Argo CD and Flux, revisions of Helm, rollouts, who wrote which object when, deletions that hang, and warnings. " +
			"What could not be read is named. No value of an object is read.",
		Touches: []string{"lists metadata of workloads, ConfigMaps, Secrets and what else people change, of webhooks and admission policies", "lists applications and sources, where Argo CD or Flux is installed", "lists events that warn", "reads commits of the clone"},
		Reads:   func(e steps.Env) steps.Prober { return probe{e} },
	}}
}

func facts() []steps.Field {
	return []steps.Field{
		{Name: "complete", Type: steps.Bool, Doc: "whether every source was read whole"},
		{Name: "unread", Type: steps.Strings, Doc: "what was not, and why"},
		{Name: "count", Type: steps.Int, Doc: "changes and warnings in that time, equal ones counted each; unknown where not all was read"},
		{Name: "by", Type: steps.Table, Doc: "source (git, argocd, flux, helm, rollout, object, event) to how many"},
		{Name: "newest", Type: steps.Time, Doc: "when the newest was"},
		{Name: "latest", Type: steps.Strings, Doc: "the newest forty, the newest first: time, source, object, what, who; the artifact has up to 4000"},
		{Name: "hand", Type: steps.Strings, Doc: "what a person's kubectl wrote, as managedFields have it, the newest first; at most forty"},
	}
}

func kind(group, version, plural, kind string, namespaced bool) cluster.Resource {
	return cluster.Resource{Group: group, Version: version, Plural: plural, Kind: kind, Namespaced: namespaced}
}

// written are the kinds whose metadata is read, in a namespace or in all.
func written() []cluster.Resource {
	return []cluster.Resource{
		kind("apps", "v1", "deployments", "Deployment", true), kind("apps", "v1", "statefulsets", "StatefulSet", true), kind("apps", "v1", "daemonsets", "DaemonSet", true),
		kind("apps", "v1", "replicasets", "ReplicaSet", true), kind("apps", "v1", "controllerrevisions", "ControllerRevision", true),
		kind("batch", "v1", "cronjobs", "CronJob", true), kind("batch", "v1", "jobs", "Job", true),
		kind("", "v1", "configmaps", "ConfigMap", true), kind("", "v1", "secrets", "Secret", true), kind("", "v1", "services", "Service", true), kind("", "v1", "serviceaccounts", "ServiceAccount", true),
		kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true), kind("", "v1", "resourcequotas", "ResourceQuota", true),
		kind("networking.k8s.io", "v1", "ingresses", "Ingress", true), kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true),
		kind("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true),
		kind("rbac.authorization.k8s.io", "v1", "roles", "Role", true), kind("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true),
	}
}

// above are the kinds that are in no namespace and decide what happens in each.
func above() []cluster.Resource {
	const admission = "admissionregistration.k8s.io"
	return []cluster.Resource{
		kind("", "v1", "namespaces", "Namespace", false),
		kind(admission, "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false), kind(admission, "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false),
		kind(admission, "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", false), kind(admission, "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", false),
	}
}

// delivering are the kinds of controllers, in all namespaces: one seldom lives where its objects do.
func delivering() []string {
	return []string{"applications.argoproj.io", "kustomizations.kustomize.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io",
		"gitrepositories.source.toolkit.fluxcd.io", "ocirepositories.source.toolkit.fluxcd.io", "helmrepositories.source.toolkit.fluxcd.io", "buckets.source.toolkit.fluxcd.io"}
}
