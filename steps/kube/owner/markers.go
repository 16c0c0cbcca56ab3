package owner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps/cluster"
)

// The marks that tools leave on an object.
const (
	ArgoTracking  = "argocd.argoproj.io/tracking-id"
	argoHook      = "argocd.argoproj.io/hook"
	argoPolicy    = "argocd.argoproj.io/hook-delete-policy"
	helmHook      = "helm.sh/hook"
	helmPolicy    = "helm.sh/hook-delete-policy"
	HelmRelease   = "meta.helm.sh/release-name"
	HelmReleaseNS = "meta.helm.sh/release-namespace"
	labelManager  = "app.kubernetes.io/managed-by"
	labelInstance = "app.kubernetes.io/instance"
	LabelApp      = "app.kubernetes.io/name"
	FluxKustomize = "kustomize.toolkit.fluxcd.io"
	FluxHelm      = "helm.toolkit.fluxcd.io"
)

// Markers are what an object says of itself: whose hook it is, when it is to be
// deleted and who answers for it. They are claims, not proofs.
type Markers struct {
	Hook       string // "argocd PreSync", "helm pre-install"; empty for none
	Policy     string // delete policy of the hook; empty for none
	OwnerLabel string // label that names an owner; empty for none
	OwnerValue string // what it names
	ManagedBy  string // app.kubernetes.io/managed-by
	Release    string // namespace/name of a Helm release
}

// words are the last segments of a label by which a team says that an
// object is its own.
func words() []string { return []string{"owner", "owned-by", "team-owner"} }

// MarkersOf reads the marks of o.
func MarkersOf(o cluster.Object) Markers {
	notes, labels := o.GetAnnotations(), o.GetLabels()
	m := Markers{ManagedBy: labels[labelManager]}
	var hooks []string
	if h := notes[argoHook]; h != "" {
		hooks = append(hooks, "argocd "+h)
	}
	if h := notes[helmHook]; h != "" {
		hooks = append(hooks, "helm "+h)
	}
	m.Hook = strings.Join(hooks, ", ")
	m.Policy = cmp.Or(notes[argoPolicy], notes[helmPolicy])
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		last := strings.ToLower(key[strings.LastIndexByte(key, '/')+1:])
		if labels[key] != "" && slices.Contains(words(), last) {
			m.OwnerLabel, m.OwnerValue = key, labels[key]
			break
		}
	}
	if name := notes[HelmRelease]; name != "" && m.ManagedBy == "Helm" {
		m.Release = cmp.Or(notes[HelmReleaseNS], o.GetNamespace()) + "/" + name
	}
	return m
}

// Managed reports whether the object is managed, and what says so: a
// hook with a delete policy is removed by its tool, and an owner label names
// whom to ask.
func (m Markers) Managed() (string, bool) {
	var why []string
	if m.Policy != "" {
		why = append(why, fmt.Sprintf("it has the delete policy %q: its tool removes it", m.Policy))
	}
	if m.OwnerLabel != "" {
		why = append(why, fmt.Sprintf("its label %s names %q as owner: ask them", m.OwnerLabel, m.OwnerValue))
	}
	return strings.Join(why, "; "), len(why) > 0
}

// TrackedBy is the mark by which a tool of GitOps tracks an object, "" for none.
func TrackedBy(o cluster.Object) string {
	labels := o.GetLabels()
	return cmp.Or(o.GetAnnotations()[ArgoTracking], labels[FluxKustomize+"/name"], labels[FluxHelm+"/name"])
}
