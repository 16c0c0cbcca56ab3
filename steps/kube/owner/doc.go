// Package owner says who would undo a change of an object: its parents by UID,
// Argo CD, Flux and Helm.
//
// [Resolve] follows the marks that an object bears (owner references, the
// tracking annotation or label of Argo CD, the labels of Flux, the release of
// Helm) to the objects that they name, and believes a mark only where that object
// claims the target too: copied labels own nothing. Each owner comes with whether
// it is paused and how to pause it. One that cannot be read is an owner
// that is not known to be paused, never none; Helm leaves no controller, so that
// it is said and owns nothing.
//
// The rules are those of the controllers: ownerReferences as the garbage collector
// reads them, Argo CD's tracking methods (argocd-cm: annotation, label or both),
// Flux's ownership labels with the inventory of its Kustomizations, and Helm's
// release annotations.
package owner
