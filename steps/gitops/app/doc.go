// Package app is one model over what Argo CD and Flux deliver: an Application, a
// Kustomization or a HelmRelease, each read from its one object in the Kubernetes API,
// so that a dead controller or an expired login to its own server does not blind it.
//
// [Parse] reads an object that was fetched, [FromArgo], [FromKustomization] and
// [FromHelmRelease] one that was decoded from a list. They judge what the object says and
// ask nothing; what needs another object (the artifact of a source, the parent that would
// undo a pause) is for the caller.
//
// # What the words mean
//
// Sync compares the live state with the wanted one. Argo CD compares all the time; Flux
// compares at its interval alone, so that [Synced] of a Kustomization means that the last
// revision was applied whole, and says nothing of a hand edit since.
//
// Phase is that of the operation that runs, else of the last one. [Stalled] is a failed one
// that the controller does not try again by itself.
//
// Link is the first link of the delivery path that fails, with the controller's own words:
// spec, source, render, dependency, secret, admission, apply, hook, prune, health. It is
// told by the reason of a condition first and by the text only where one reason has several
// causes. What no rule knows is [LinkUnknown], never none.
//
// Began says whether the last operation wrote anything: known to be true where one of its
// results says so, known to be false where it failed before anything is sent, unknown
// otherwise. Flux keeps no results by object, so an apply that failed is unknown there.
//
// A suspension has an author and a time where managedFields hold the field by which it is
// suspended. Where a field was removed instead, neither is left, and the newest automatic
// operation is a lower bound (AtLeast).
//
// Fields and texts: Argo CD v3 `applications.argoproj.io` (Application CRD, gitops-engine
// sync results), Flux 2 `kustomizations.kustomize.toolkit.fluxcd.io` v1 and
// `helmreleases.helm.toolkit.fluxcd.io` v2 with the condition reasons of
// github.com/fluxcd/pkg/apis/meta.
package app
