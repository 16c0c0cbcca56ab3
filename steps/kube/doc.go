// Package kube is the table of the step kinds of Kubernetes clusters; the rooms
// below it hold them, and their arrows point down:
//
//	change                          the gates
//	act                             what was approved, sent once
//	stuck  catch  alike  sweep  workload  centre
//	writers                         who may write
//	blame                           who wrote a field
//	owner  object  contexts         who owns an object, and the object as it is
//	report                          how probes say what they saw
//	steps/cluster                   the client
//
// What stands beside them reads no cluster: admission, allowlist, document,
// egress, fieldpath, loglayer, nodereport, order, patch, persist, podstate, rbac
// and weaken judge what they are given.
//
// Probes read through a transport that cannot write. A gate rehearses its request
// with dryRun=All inside its preview, and sends it through a transport that lets
// through that one request, once. Nothing acts by selector or pattern.
//
// What cannot be read is unknown with the reason, never a value that would open a
// gate: that a controller is gone, that nothing is left behind or that an object
// is an orphan is said on positive proof alone.
//
// Vocabulary: the target is the object that a step is about; an owner is a
// controller that writes it and would undo a change; the keeper of a finalizer is
// the controller that must remove it; a look-alike is another object that could
// be taken for the target.
package kube
