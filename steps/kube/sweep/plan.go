package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps/cluster"
	"handrail/steps/kube/allowlist"
	"handrail/steps/kube/persist"
)

// plan says what is listed whole, what as metadata, and for which category. The
// API server is asked for each resource once.
func (w *collector) plan() {
	const apps, batch, adm, rbac = ".apps", ".batch", ".admissionregistration.k8s.io", ".rbac.authorization.k8s.io"
	var (
		work  = []string{allowlist.Workloads, allowlist.HostAccess}
		cron  = []string{allowlist.CronJobs, allowlist.HostAccess}
		grant = []string{allowlist.Accounts, allowlist.Workloads}
	)
	w.list("cronjobs"+batch, false, cron, func(r cluster.Resource, o cluster.Object) {
		run := w.runOf(r, o, "spec", "jobTemplate", "spec", "template", "spec")
		run.what = fmt.Sprintf("%s, %s", persist.Text(persist.Part(o.Object, "spec"), "schedule"), run.what)
		w.crons = append(w.crons, run)
	})
	w.list("jobs"+batch, true, cron, func(r cluster.Resource, o cluster.Object) {
		if !jobEnded(o) {
			w.jobs = append(w.jobs, w.runOf(r, o, "spec", "template", "spec"))
		}
	})
	for _, plural := range []string{"deployments" + apps, "daemonsets" + apps, "statefulsets" + apps, "replicationcontrollers"} {
		w.list(plural, false, work, func(r cluster.Resource, o cluster.Object) {
			w.runs = append(w.runs, w.runOf(r, o, "spec", "template", "spec"))
		})
	}
	for _, plural := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		w.list(plural+adm, false, []string{allowlist.Webhooks}, w.hook)
	}
	for _, plural := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		w.list(plural+adm, false, []string{allowlist.Policies}, w.policy)
	}
	for _, group := range []string{"kyverno.io", "policies.kyverno.io", "templates.gatekeeper.sh", "constraints.gatekeeper.sh", "mutations.gatekeeper.sh"} {
		w.group(group, allowlist.Policies, w.policy)
	}
	for plural, kind := range map[string]string{"clusterroles" + rbac: "clusterrole", "roles" + rbac: "role"} {
		w.list(plural, false, grant, func(_ cluster.Resource, o cluster.Object) { w.graph.Role(kind, o.Unstructured) })
	}
	for plural, kind := range map[string]string{"clusterrolebindings" + rbac: "clusterrolebinding", "rolebindings" + rbac: "rolebinding"} {
		w.list(plural, false, grant, func(_ cluster.Resource, o cluster.Object) { w.graph.Bind(kind, o.Unstructured) })
	}
	w.list(cluster.APIServices().String(), false, []string{allowlist.APIServices}, w.aggregated)
	w.networkPolicies()
	for _, plural := range []string{"applications.argoproj.io", "applicationsets.argoproj.io", "gitrepos.fleet.cattle.io", "bundles.fleet.cattle.io",
		"rootsyncs.configsync.gke.io", "reposyncs.configsync.gke.io"} {
		w.list(plural, false, []string{allowlist.GitOps}, w.syncs)
	}
	for _, group := range []string{"kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "image.toolkit.fluxcd.io"} {
		w.group(group, allowlist.GitOps, w.syncs)
	}
	for _, name := range HeldKinds {
		w.metadata(name)
	}
}

// HeldKinds are looked through for deletions that a finalizer holds, beside the
// kinds of the entries themselves. Secrets are not among them: who may list their
// metadata may read their values, and a sweep needs no such right.
var HeldKinds = []string{"namespaces", "nodes", "pods", "replicasets.apps", "configmaps", "services", "serviceaccounts", "persistentvolumeclaims",
	"persistentvolumes", "ingresses.networking.k8s.io", "customresourcedefinitions.apiextensions.k8s.io"}

// list plans to read one resource whole, but for the bytes that are not needed.
// see is called with the sweep locked.
func (w *collector) list(name string, status bool, categories []string, see func(cluster.Resource, cluster.Object)) {
	r, there := w.served.By[name]
	if !there {
		w.hidden(name, categories)
		return
	}
	categories = append(slices.Clone(categories), allowlist.Finalizers)
	w.reads = append(w.reads, func(ctx context.Context) {
		err := w.ListForm(ctx, r, "", Whole(r, status), func(o cluster.Object) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.objects++
			see(r, o)
			w.holds(r, o, true)
		})
		if err != nil {
			w.miss(r.String()+": "+err.Error(), categories...)
		}
	})
}

// hidden notes a kind that is not served, where that is not certain. Of
// one that the server does not have there is nothing.
func (w *collector) hidden(name string, categories []string) {
	_, group, _ := strings.Cut(name, ".")
	switch {
	case w.served.Hides(group):
		w.miss(name+": its API group does not say what it serves", categories...)
	case slices.Contains(HeldKinds, name) || slices.Contains(everyServer, name):
		w.miss(name+": the server does not name it, and every API server has it", categories...)
	}
}

// everyServer are kinds of the entries that no API server is without: one that
// does not name them hides them.
var everyServer = []string{"cronjobs.batch", "jobs.batch", "deployments.apps", "daemonsets.apps", "statefulsets.apps",
	"validatingwebhookconfigurations.admissionregistration.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
	"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io",
	"rolebindings.rbac.authorization.k8s.io", "apiservices.apiregistration.k8s.io", "networkpolicies.networking.k8s.io"}

// group plans to read every kind of an API group.
func (w *collector) group(group, category string, see func(cluster.Resource, cluster.Object)) {
	for _, r := range w.served.In(group) {
		w.list(r.String(), false, []string{category}, see)
	}
	if w.served.Hides(group) {
		w.miss(group+": the API group does not say what it serves", category)
	}
}

// metadata plans to read the metadata of one resource.
func (w *collector) metadata(name string) {
	categories := []string{allowlist.Finalizers}
	see := func(cluster.Object) {}
	r := w.served.By[name]
	switch name {
	case "namespaces":
		categories, see = append(categories, allowlist.PodSecurity), w.space
	case "nodes":
		categories, see = append(categories, allowlist.NodeWriters), func(o cluster.Object) { w.nodes = append(w.nodes, o.GetName()) }
	case "pods", "replicasets.apps":
		categories = append(categories, allowlist.Workloads, allowlist.HostAccess)
		see = func(o cluster.Object) { w.unmade(r, o) }
	}
	if r.Plural == "" {
		w.hidden(name, categories)
		return
	}
	w.reads = append(w.reads, func(ctx context.Context) {
		err := w.ListForm(ctx, r, "", metadataOnly(r), func(o cluster.Object) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.objects++
			see(o)
			w.holds(r, o, false)
		})
		if err != nil {
			w.miss(r.String()+": "+err.Error(), categories...)
		}
	})
}

func (w *collector) runOf(r cluster.Resource, o cluster.Object, path ...string) runner {
	runs := persist.RunsOf(persist.Part(o.Object, path...))
	run := runner{kind: r.Kind, namespace: o.GetNamespace(), name: o.GetName(), uid: string(o.GetUID()),
		account: runs.Account, digest: persist.Sum(runs), what: runs.What, host: runs.Host}
	for _, ref := range o.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			run.parent = string(ref.UID)
		}
	}
	return run
}

// jobEnded reports whether a Job is over: it then writes nothing more.
func jobEnded(o cluster.Object) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range conditions {
		m, _ := item.(map[string]any)
		if (m["type"] == "Complete" || m["type"] == "Failed") && m["status"] == "True" {
			return true
		}
	}
	return false
}

// passing is how long a finalizer may hold a deletion before it is an entry.
const passing = time.Minute

// holds notes the finalizers that hold an object in deletion, or that would hold
// the deletion of an entry.
func (w *collector) holds(r cluster.Resource, o cluster.Object, entry bool) {
	names := slices.Clone(o.GetFinalizers())
	if len(names) == 0 {
		return
	}
	what := "being deleted, held by "
	if asked := o.GetDeletionTimestamp(); asked == nil {
		if !entry || strings.Contains(r.Group, "toolkit.fluxcd.io") || r.Group == "argoproj.io" {
			return
		}
		what = "its deletion would be held by "
	} else if now, why := w.Now(); why == "" && now.Sub(asked.Time) < passing {
		return
	}
	slices.Sort(names)
	w.found = append(w.found, found{Thing: allowlist.Thing{Category: allowlist.Finalizers, Namespace: o.GetNamespace(),
		Name: r.String() + "/" + o.GetName(), Digest: persist.Sum(names)}, what: persist.Line(what+strings.Join(names, ", "), 300), reach: w.within(o.GetNamespace())})
}

// unmade notes Pods and ReplicaSets that nothing made which is listed whole:
// they are read afterwards. A static Pod is told by its annotation.
func (w *collector) unmade(r cluster.Resource, o cluster.Object) {
	l := w.loose[r.String()]
	if l == nil {
		l = &looseObjects{names: map[string][]string{}, among: map[string]int{}}
		w.loose[r.String()] = l
	}
	l.among[o.GetNamespace()]++
	notes := o.GetAnnotations()
	if source := notes["kubernetes.io/config.source"]; r.Plural == "pods" && (notes["kubernetes.io/config.mirror"] != "" || source != "" && source != "api") {
		w.found = append(w.found, found{Thing: allowlist.Thing{Category: allowlist.HostAccess, Namespace: o.GetNamespace(), Name: "pod/" + o.GetName(),
			Digest: persist.Sum([]string{"static", notes["kubernetes.io/config.hash"]})}, what: "a static Pod: its manifest is a file on the node, and deleting it here does nothing"})
		return
	}
	for _, ref := range o.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller && slices.Contains([]string{"ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicationController"}, ref.Kind) {
			return
		}
	}
	l.names[o.GetNamespace()] = append(l.names[o.GetNamespace()], o.GetName())
}

// space notes the labels of a namespace, and whether they keep debug Pods out.
func (w *collector) space(o cluster.Object) {
	labels := o.GetLabels()
	w.spaces[o.GetName()] = labels
	const enforce = "pod-security.kubernetes.io/enforce"
	if level := labels[enforce]; level != "" && level != "privileged" {
		w.found = append(w.found, found{Thing: allowlist.Thing{Category: allowlist.PodSecurity, Namespace: o.GetName(), Name: "labels",
			Digest: persist.Sum([]string{level, labels[enforce+"-version"]})}, what: "enforces " + persist.Line(level, 60), reach: w.within(o.GetName())})
	}
}
