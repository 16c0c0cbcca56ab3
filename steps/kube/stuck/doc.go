// Package stuck says what holds an object or a namespace in deletion, and whether
// it may be let go.
//
// For each finalizer it names the controller that keeps it (a table of known
// keepers, the workload that a person names, and what the cluster says of it), and
// whether that one is alive. That a keeper is dead is said on positive proof
// alone: absence is no death, silence is no death, and a Lease that a process
// renews lives whatever is said of its workload. What holds the proof together are
// ties between the finalizer and a workload ([Keeper.Ties]); what cannot be read
// forbids it.
//
// Children are found by UID in every kind of the namespace, what would be left
// outside the cluster is said by the table, and of a namespace each condition of
// its controller is held against what is really there: dead API services, webhooks
// that refuse, objects with finalizers, and what is left of an older namespace of
// the name.
package stuck
