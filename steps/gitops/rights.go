package gitops

import (
	"slices"

	"handrail/steps"
	"handrail/steps/gitops/app"
)

// delivered are the rights to read what a controller reconciles, in every namespace: an
// application seldom lives where its objects do.
func delivered(verbs ...string) []steps.Right {
	return []steps.Right{
		{Group: app.ArgoGroup, Resource: applications, Verbs: verbs, Wide: true, For: "Argo CD"},
		{Group: app.KustomizeGroup, Resource: kustomizations, Verbs: verbs, Wide: true, For: "Flux"},
		{Group: app.HelmGroup, Resource: helmReleases, Verbs: verbs, Wide: true, For: "Flux"},
	}
}

func sources(verbs ...string) []steps.Right {
	var out []steps.Right
	for _, plural := range sourceKinds {
		out = append(out, steps.Right{Group: app.SourceGroup, Resource: plural, Verbs: verbs, Wide: true, For: "Flux"})
	}
	return out
}

// parents may undo what is done to an application.
func parents() []steps.Right {
	return []steps.Right{
		{Group: app.ArgoGroup, Resource: "applicationsets", Verbs: []string{"get"}, Wide: true, For: "Argo CD"},
		{Resource: "configmaps", Verbs: []string{"get", "list"}, Wide: true, For: "Argo CD"},
	}
}

// whichCluster is asked first by every step of a cluster.
func whichCluster() steps.Right {
	return steps.Right{Resource: "namespaces", Verbs: []string{"get"}, Name: "kube-system", Wide: true}
}

func appRights(steps.Params) []steps.Right {
	return slices.Concat([]steps.Right{whichCluster()}, delivered("get", "list"), sources("get"), parents())
}

func suspendedRights(steps.Params) []steps.Right {
	return slices.Concat([]steps.Right{whichCluster()}, delivered("list"), sources("list"))
}

func copiesRights(steps.Params) []steps.Right {
	return slices.Concat([]steps.Right{whichCluster(),
		{Resource: "configmaps", Verbs: []string{"get", "list"}, Wide: true},
		{Resource: "pods", Verbs: []string{"list"}, Wide: true},
		{Group: "apps", Resource: "replicasets", Verbs: []string{"get"}, Wide: true, For: "what runs there"},
		{Group: "apps", Resource: "deployments", Verbs: []string{"get"}, Wide: true, For: "what runs there"},
		{Group: "apps", Resource: "statefulsets", Verbs: []string{"get"}, Wide: true, For: "what runs there"},
		{Group: "apps", Resource: "daemonsets", Verbs: []string{"get"}, Wide: true, For: "what runs there"},
	}, delivered("list")[:1])
}

func controllerRights(steps.Params) []steps.Right {
	home := []steps.Right{
		{Group: "apps", Resource: "deployments", Verbs: []string{"list"}},
		{Group: "apps", Resource: "statefulsets", Verbs: []string{"list"}},
		{Group: "apps", Resource: "replicasets", Verbs: []string{"list"}, For: "what runs there"},
		{Group: "apps", Resource: "controllerrevisions", Verbs: []string{"list"}, For: "what runs there"},
		{Resource: "pods", Verbs: []string{"list"}, For: "what runs there"},
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"list"}},
		{Resource: "configmaps", Verbs: []string{"get"}, For: "Argo CD"},
		{Resource: "secrets", Verbs: []string{"list"}, For: "credentials of Argo CD, metadata alone"},
		{Resource: "secrets", Verbs: []string{"get"}, Wide: true, For: "credentials of Flux, metadata alone"},
		{Verbs: []string{"get"}, For: "objects of what is late, metadata alone"},
	}
	return slices.Concat([]steps.Right{whichCluster()}, delivered("list"), sources("list"), home)
}

func traceRights(steps.Params) []steps.Right {
	// Only the run tells which object it is.
	return append(appRights(nil), steps.Right{Verbs: []string{"get"}})
}

func pathRights(in steps.Params) []steps.Right {
	return append(traceRights(in), sources("list")...)
}

func syncRights(steps.Params) []steps.Right {
	// What differs is read to show what a sync takes back: only the run tells what it is.
	return slices.Concat(appRights(nil), delivered("patch"), []steps.Right{{Verbs: []string{"get"}}})
}

func terminateRights(steps.Params) []steps.Right {
	return slices.Concat([]steps.Right{whichCluster()}, delivered("get", "patch")[:1], parents())
}
