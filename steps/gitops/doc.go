// Package gitops is the world of Argo CD and Flux: what they deliver, what of it fails, and
// who would undo a change. Its kinds read the Kubernetes API alone, never a controller's own
// server, so that a dead controller or an expired login does not blind them. One kind asks a
// controller itself, for what is nowhere else: how far it is behind by its own metrics.
//
//	gitops/adopt       the patch after which Git has what was changed by hand
//	gitops/app         one application: sync, health, the last operation, what fails
//	gitops/controller  whether the controller itself works, what it missed, what its return does
//	gitops/copies      the copies of one ConfigMap, held against Git and how a token is signed
//	gitops/desired     what Git has, was applied and is live, object by object
//	gitops/metrics     queues, waits and durations by the metrics of one controller
//	gitops/path        from a path in Git, or an application, down to what is live of it
//	gitops/suspended   everything that is suspended, since when and by whom
//	gitops/trace       from an object up to its application, source, revision and path
//	gitops/sync        gate: one revision applied, watched to its end
//	gitops/terminate   gate: an operation of Argo CD ended
//
// steps/gitops/app is the model that they share, steps/gitops/manifests what Git has of one, which steps/gitops/render makes of
// a commit in a process of its own, steps/gitops/metrics the kind of that name,
// steps/gitops/adopt edits manifests. Who would undo a change or a pause is told
// by steps/kube/owner.
package gitops
