package kube

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The marks that tools leave on an object.
const (
	argoTracking  = "argocd.argoproj.io/tracking-id"
	argoHook      = "argocd.argoproj.io/hook"
	argoPolicy    = "argocd.argoproj.io/hook-delete-policy"
	helmHook      = "helm.sh/hook"
	helmPolicy    = "helm.sh/hook-delete-policy"
	helmRelease   = "meta.helm.sh/release-name"
	helmReleaseNS = "meta.helm.sh/release-namespace"
	labelManager  = "app.kubernetes.io/managed-by"
	labelInstance = "app.kubernetes.io/instance"
	labelApp      = "app.kubernetes.io/name"
	fluxKustomize = "kustomize.toolkit.fluxcd.io"
	fluxHelm      = "helm.toolkit.fluxcd.io"
)

// markers are what an object says of itself: whose hook it is, when it is to be
// deleted and who answers for it. They are claims, not proofs.
type markers struct {
	hook       string // "argocd PreSync", "helm pre-install"; empty for none
	policy     string // delete policy of the hook; empty for none
	ownerLabel string // label that names an owner; empty for none
	ownerValue string // what it names
	managedBy  string // app.kubernetes.io/managed-by
	release    string // namespace/name of a Helm release
}

// ownerWords are the last segments of a label by which a team says that an
// object is its own.
func ownerWords() []string { return []string{"owner", "owned-by", "team-owner"} }

// markersOf reads the marks of o.
func markersOf(o object) markers {
	notes, labels := o.GetAnnotations(), o.GetLabels()
	m := markers{managedBy: labels[labelManager]}
	var hooks []string
	if h := notes[argoHook]; h != "" {
		hooks = append(hooks, "argocd "+h)
	}
	if h := notes[helmHook]; h != "" {
		hooks = append(hooks, "helm "+h)
	}
	m.hook = strings.Join(hooks, ", ")
	m.policy = cmp.Or(notes[argoPolicy], notes[helmPolicy])
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		last := strings.ToLower(key[strings.LastIndexByte(key, '/')+1:])
		if labels[key] != "" && slices.Contains(ownerWords(), last) {
			m.ownerLabel, m.ownerValue = key, labels[key]
			break
		}
	}
	if name := notes[helmRelease]; name != "" && m.managedBy == "Helm" {
		m.release = cmp.Or(notes[helmReleaseNS], o.GetNamespace()) + "/" + name
	}
	return m
}

// managed reports whether somebody answers for the object, and who says so: a
// hook with a delete policy is removed by its tool, and an owner label names
// whom to ask.
func (m markers) managed() (string, bool) {
	var why []string
	if m.policy != "" {
		why = append(why, fmt.Sprintf("it has the delete policy %q: its tool removes it", m.policy))
	}
	if m.ownerLabel != "" {
		why = append(why, fmt.Sprintf("its label %s names %q as owner: ask them", m.ownerLabel, m.ownerValue))
	}
	return strings.Join(why, "; "), len(why) > 0
}

func trackedBy(o object) string {
	labels := o.GetLabels()
	return cmp.Or(o.GetAnnotations()[argoTracking], labels[fluxKustomize+"/name"], labels[fluxHelm+"/name"])
}
