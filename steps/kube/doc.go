// Package kube reads the objects of a Kubernetes cluster, says who owns them
// and what a finalizer holds back, and holds the gates that change one named
// object.
//
// Its probes read through the transport that cannot write. A gate rehearses its
// request with dryRun=All inside its preview, and sends it through a transport
// that lets through that one request, once. Nothing acts by selector or pattern:
// a gate takes one resource, one name and one UID.
//
// What cannot be read is unknown with the reason, never a value that would open
// a gate: that a controller is gone, that nothing is left behind or that an
// object is an orphan is said on positive proof alone.
//
// Vocabulary: the target is the object that a step is about; an owner is a
// controller that writes it and would undo a change; the keeper of a finalizer
// is the controller that must remove it; a look-alike is another object that
// could be taken for the target.
package kube
