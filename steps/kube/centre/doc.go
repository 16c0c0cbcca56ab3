// Package centre answers the command centre's questions of one cluster: what is
// stuck, drifting, locked, denied, degraded or changed by hand, and since when.
//
// Each question is a handful of lists, asked when a person opens it, and each row
// names its object, its owner where one is marked, and the text of the cluster.
// What could not be read is a gap of that question; a list that is refused for
// the whole cluster is asked of the namespace alone, and the answer says so.
package centre
