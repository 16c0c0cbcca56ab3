// Package blame says who wrote a field, by the books that the server keeps of
// each object (managedFields), and whether fields hold what a team waits for.
//
// The books name a client by the name that it gave itself: a lead, never a proof,
// and every sentence says so. Where they do not tell (a field without an owner, two
// owners, lines without a time, names that were lost) the answer is that the cluster
// does not tell. A field that was rewritten less than a minute ago is derived state
// ([DerivedFields]): what it is made from is sought in ConfigMaps, never in
// Secrets ([Inputs]).
//
// kube/signals reads a team's file of what an in-house reconciler waits for, each
// one field of one object, and says which hold.
//
// Of a Secret metadata alone is read, so that no value crosses the wire.
package blame
