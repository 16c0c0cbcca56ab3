package kube

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
)

// manual finds what a person wrote, with kubectl, over what GitOps applies, and
// what GitOps has not taken back or taken over since. By managedFields: they
// name the client that asked, and a removed field has no author.
func (s *Centre) manual(ctx context.Context, w *answering) {
	for _, r := range written() {
		s.every(ctx, w, r, asMetaList, nil, func(o object) {
			keeper := gitopsOf(o, target{resource: r, namespace: o.GetNamespace(), name: o.GetName()})
			if keeper == "" {
				return
			}
			by, at, is := byHand(o.GetManagedFields())
			if !is {
				return
			}
			row := steps.Standing{Level: steps.Warning, What: by.what(), Where: r.label(o.GetNamespace(), o.GetName()), Since: at, Owner: keeper,
				Detail:  "Fields: " + steps.Clip(strings.Join(by.fields, ", "), 400),
				Command: s.c.kubectl(o.GetNamespace(), "get", r.String(), o.GetName(), "-o", "yaml", "--show-managed-fields")}
			w.row(row)
		})
	}
}

// written are the kinds that people change by hand in an incident.
func written() []resource {
	out := []resource{
		{group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true},
		{group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet", namespaced: true},
		{group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet", namespaced: true},
		{version: "v1", plural: "services", kind: "Service", namespaced: true},
		{version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true},
		{group: "batch", version: "v1", plural: "cronjobs", kind: "CronJob", namespaced: true},
		{group: "networking.k8s.io", version: "v1", plural: "ingresses", kind: "Ingress", namespaced: true},
		{group: "networking.k8s.io", version: "v1", plural: "networkpolicies", kind: "NetworkPolicy", namespaced: true},
		{group: "autoscaling", version: "v2", plural: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler", namespaced: true},
		{group: "rbac.authorization.k8s.io", version: "v1", plural: "rolebindings", kind: "RoleBinding", namespaced: true},
	}
	return out
}

// gitopsOf names the application or the Kustomization that tracks o; Helm by hand
// is not GitOps.
func gitopsOf(o object, t target) string {
	if id, err := parseTracking(o.GetAnnotations()[argoTracking]); err == nil && id.of(t) {
		return keptBy(o)
	}
	if o.GetLabels()[fluxKustomize+"/name"] != "" || o.GetLabels()[fluxHelm+"/name"] != "" {
		return keptBy(o)
	}
	return ""
}

// hand is what a person wrote.
type hand struct {
	manager, after string
	fields         []string
}

func (h hand) what() string {
	if h.after == "" {
		return h.manager + " wrote it"
	}
	return h.manager + " wrote it after " + h.after
}

// byHand finds what kubectl wrote after the newest write of GitOps and GitOps
// does not own too. Times are whole seconds; within one, what GitOps does not own
// came later. Where no time was recorded, the age is not known.
func byHand(entries []metav1.ManagedFieldsEntry) (hand, time.Time, bool) {
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
	var found hand
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
