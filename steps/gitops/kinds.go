package gitops

import (
	"slices"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/metrics"
	"handrail/steps/kube/act"
	"handrail/steps/kube/contexts"
)

// Kinds returns the step kinds of this world.
func Kinds() []steps.Kind {
	kinds := []steps.Kind{
		{
			Name: "gitops/adopt", Class: steps.Probe, Params: adoptParams(), Facts: adoptFacts(),
			Doc:     "Makes the patch of a repository after which Git has what was changed by hand in the objects of an application, and a pull request of it as text. Each field is proven by rendering again: it comes out as it is live, and nothing else changes. What cannot be brought so is left, with the reason. Nothing is written to the clone.",
			Touches: []string{"reads Git objects of the clone, of which nothing runs", "renders them, and what it changes of them, in a process of its own, without network and files", "gets the application, its source and each object of it"},
			Rights:  traceRights,
			Reads:   func(e steps.Env) steps.Prober { return adoptProbe{e} },
		},
		{
			Name: "gitops/app", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: appFacts(),
			Doc:     "Reads one application of Argo CD, or one Kustomization or HelmRelease of Flux: whether it is synced and healthy, what its last operation did to each object, which link of the delivery fails, and whether it is suspended, since when and by whom.",
			Touches: []string{"gets the application, its source and what would undo a change of it", "gets metadata of its objects, where Argo CD does not say what the last operation wrote"},
			Rights:  traceRights,
			Reads:   func(e steps.Env) steps.Prober { return appProbe{e} },
		},
		{
			Name: "gitops/controller", Class: steps.Probe, Params: controllerParams(), Facts: controllerFacts(),
			Doc:     "Says whether Argo CD or Flux itself works: its components and how they ended, who leads, its credentials without a value, what changed of it, which applications are late, and what its return would do to them: delete, write over what was changed meanwhile.",
			Touches: []string{"lists Deployments, StatefulSets, their revisions, Pods and leases of one namespace", "reads metadata of Secrets that hold credentials", "lists applications and sources", "gets metadata of the objects of those that are late"},
			Rights:  controllerRights,
			Reads:   func(e steps.Env) steps.Prober { return controllerProbe{e} },
		},
		{
			Name: "gitops/copies", Class: steps.Probe, Params: copiesParams(), Facts: copiesFacts(),
			Doc:     "Finds the copies of one ConfigMap in all namespaces and holds two keys of each against Git and against how a token is signed: who wrote them, which application applies each and whether it syncs by itself, and whether the Pods beside it took it before its last write. Of a token the header alone is decoded; the rest of it is kept nowhere.",
			Touches: []string{"lists ConfigMaps and Pods in all namespaces, and gets the copies", "lists applications of Argo CD", "gets what makes Pods that hold an older copy", "reads Git objects of the clone, of which nothing runs", "renders them in a process of its own, without network and files", "reads the file of the token"},
			Rights:  copiesRights,
			Reads:   func(e steps.Env) steps.Prober { return copiesProbe{e} },
		},
		{
			Name: "gitops/desired", Class: steps.Probe, Params: desiredParams(), Facts: desiredFacts(),
			Doc:     "Holds each object of an application as Git has it, rendered here from a local clone, against what was applied last and what is live, and says which side moved. Where it cannot be rendered here it says so, and takes what its controller applied last. Values of Secrets are tokens.",
			Touches: []string{"reads Git objects of the clone, of which nothing runs", "renders them in a process of its own, without network and files", "gets the application, its source and each object of it"},
			Rights:  traceRights,
			Reads:   func(e steps.Env) steps.Prober { return desiredProbe{e} },
		},
		{
			Name: "gitops/path", Class: steps.Probe, Params: pathParams(), Facts: pathFacts(), Drawing: ladderDrawing(),
			Doc:     "Goes from a file or directory of a repository, or from an application, down to what is live: which applications render it, which objects come of it, whether each is there, as wanted, well or being deleted, and the link that fails in the controller's own words.",
			Touches: []string{"reads Git objects of the clone, of which nothing runs", "renders them in a process of its own, without network and files", "lists applications and sources", "gets those that render it, and each object of them"},
			Rights:  pathRights,
			Reads:   func(e steps.Env) steps.Prober { return pathProbe{e} },
		},
		{
			Name: "gitops/suspended", Class: steps.Probe, Params: suspendedParams(), Facts: suspendedFacts(),
			Doc:     "Finds every application, Kustomization, HelmRelease and source that its controller leaves alone, with since when, by whom and how many revisions wait.",
			Touches: []string{"lists applications of Argo CD", "lists Kustomizations, HelmReleases and sources of Flux"},
			Rights:  suspendedRights,
			Reads:   func(e steps.Env) steps.Prober { return suspendedProbe{e} },
		},
		{
			Name: "gitops/trace", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: traceFacts(), Drawing: ladderDrawing(),
			Doc:     "Goes from an object up to the application that applies it, its source, revision and path, and names the link that fails in the controller's own words.",
			Touches: []string{"gets the object, the applications that claim it and their sources"},
			Rights:  traceRights,
			Reads:   func(e steps.Env) steps.Prober { return traceProbe{e} },
		},
		{
			Name: "gitops/sync", Class: steps.Rerun, Params: syncParams(),
			Doc:     "Applies one revision to one application: an operation of Argo CD, or a reconciliation of a Kustomization or HelmRelease of Flux, watched to its end. Refuses a revision that the controller has not compared with, one that runs, and deletes only where it is said.",
			Touches: []string{"patches the application with a JSON patch that tests its UID and its version", "its controller then applies what Git has"},
			Rights:  syncRights, Again: act.RereadAfter,
			Changes: newSyncGate,
		},
		{
			Name: "gitops/terminate", Class: steps.Contain, Params: terminateParams(),
			Doc:     "Ends the operation of Argo CD that runs on one application. What it applied so far stays.",
			Touches: []string{"patches the application with a JSON patch that tests its UID, its version and the phase"},
			Rights:  terminateRights, Again: act.RereadAfter,
			Changes: newTerminateGate,
		},
	}
	return append(contexts.Anywhere(kinds), metrics.Kind()) // which asks no cluster
}

// Resources that this world reads.
const (
	applications   = "applications"
	kustomizations = "kustomizations"
	helmReleases   = "helmreleases"
)

// sourceKinds are the sources of Flux.
var sourceKinds = []string{"gitrepositories", "ocirepositories", "buckets", "helmrepositories"}

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
