package centre

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
)

// manual finds what a person wrote, with kubectl, over what GitOps applies, and
// what GitOps has not taken back or taken over since. By managedFields: they
// name the client that asked, and a removed field has no author.
func (s *Centre) manual(ctx context.Context, w *answer) {
	for _, r := range written() {
		s.every(ctx, w, r, cluster.AsMetaList, nil, func(o cluster.Object) {
			keeper := gitopsOf(o, cluster.Target{Resource: r, Namespace: o.GetNamespace(), Name: o.GetName()})
			if keeper == "" {
				return
			}
			by, at, is := byHand(o.GetManagedFields())
			if !is {
				return
			}
			row := steps.Standing{Level: steps.Warning, What: by.what(), Where: r.Label(o.GetNamespace(), o.GetName()), Since: at, Owner: keeper,
				Detail:  "Fields: " + steps.Clip(strings.Join(by.fields, ", "), 400),
				Command: s.c.Kubectl(o.GetNamespace(), "get", r.String(), o.GetName(), "-o", "yaml", "--show-managed-fields")}
			w.row(row)
		})
	}
}

// written are the kinds that people change by hand in an incident.
func written() []cluster.Resource {
	out := []cluster.Resource{
		{Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true},
		{Group: "apps", Version: "v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true},
		{Group: "apps", Version: "v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true},
		{Version: "v1", Plural: "services", Kind: "Service", Namespaced: true},
		{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true},
		{Group: "batch", Version: "v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true},
		{Group: "networking.k8s.io", Version: "v1", Plural: "ingresses", Kind: "Ingress", Namespaced: true},
		{Group: "networking.k8s.io", Version: "v1", Plural: "networkpolicies", Kind: "NetworkPolicy", Namespaced: true},
		{Group: "autoscaling", Version: "v2", Plural: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler", Namespaced: true},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Plural: "rolebindings", Kind: "RoleBinding", Namespaced: true},
	}
	return out
}

// gitopsOf names the application or the Kustomization that tracks o; Helm by hand
// is not GitOps.
func gitopsOf(o cluster.Object, t cluster.Target) string {
	if id, err := owner.ParseTracking(o.GetAnnotations()[owner.ArgoTracking]); err == nil && id.Of(t) {
		return keptBy(o)
	}
	if o.GetLabels()[owner.FluxKustomize+"/name"] != "" || o.GetLabels()[owner.FluxHelm+"/name"] != "" {
		return keptBy(o)
	}
	return ""
}

// handEdit is what a person wrote.
type handEdit struct {
	manager, after string
	fields         []string
}

func (h handEdit) what() string {
	if h.after == "" {
		return h.manager + " wrote it"
	}
	return h.manager + " wrote it after " + h.after
}

// byHand finds what kubectl wrote after the newest write of GitOps and GitOps
// does not own too. Times are whole seconds; within one, what GitOps does not own
// came later. Where no time was recorded, the age is not known.
func byHand(entries []metav1.ManagedFieldsEntry) (handEdit, time.Time, bool) {
	var applied time.Time
	var after string
	owned := fieldpath.NewSet()
	for _, e := range entries {
		if !gitopsManager(e.Manager) {
			continue
		}
		if set, ok := fieldsOf(e); ok {
			owned = owned.Union(set)
		}
		if e.Time != nil && e.Time.After(applied) {
			applied, after = e.Time.Time, steps.Clip(e.Manager, 100)
		}
	}
	var found handEdit
	var at time.Time
	for _, e := range entries {
		if !byKubectl(e) || e.Time != nil && e.Time.Time.Before(applied) {
			continue
		}
		set, ok := fieldsOf(e)
		if !ok {
			continue
		}
		left := set.Difference(owned)
		if left.Empty() {
			continue // the same value is in Git by now
		}
		found.after = after
		if e.Time != nil && e.Time.After(at) {
			at = e.Time.Time
		}
		if found.manager == "" || e.Time != nil && at.Equal(e.Time.Time) {
			found.manager = steps.Clip(e.Manager, 100)
		}
		left.Iterate(func(p fieldpath.Path) {
			if name := p.String(); len(found.fields) < 20 && !strings.HasPrefix(name, ".metadata.annotations.kubectl.kubernetes.io/") {
				found.fields = append(found.fields, name)
			}
		})
	}
	return found, at, found.manager != "" && len(found.fields) > 0
}

func fieldsOf(e metav1.ManagedFieldsEntry) (*fieldpath.Set, bool) {
	if e.FieldsV1 == nil {
		return nil, false
	}
	set := fieldpath.NewSet()
	if err := set.FromJSON(e.FieldsV1.GetRawReader()); err != nil {
		return nil, false
	}
	return set.Leaves(), true
}

// byKubectl is a write of a person's own, not of a status; a restart of a rollout
// changes nothing that Git knows.
func byKubectl(e metav1.ManagedFieldsEntry) bool {
	if e.Subresource != "" && e.Subresource != "scale" {
		return false
	}
	return e.Manager == "kubectl" || strings.HasPrefix(e.Manager, "kubectl-") && e.Manager != "kubectl-rollout"
}

func gitopsManager(m string) bool {
	switch m {
	case "argocd-controller", "argocd-application-controller", "kustomize-controller", "helm-controller":
		return true
	}
	return false
}
