// Package sweep lists everything in a cluster and on its nodes that may write
// unasked, or keep a repair from holding, and asks of each whether the team can
// account for it.
//
// It reads every kind that can run, call, grant or refuse: each is planned as a
// read of its own, and all run side by side with the lean forms of this package,
// so that a large cluster is read in one pass. Categories and what matters of an
// object are those of steps/kube/persist; what a team accounts for is its
// allow-list (steps/kube/allowlist), by content, person and date; nodes are seen
// through the reports of steps/kube/nodereport. A category that was not read whole
// keeps the answer unknown, and absence from a report is never proof.
package sweep
