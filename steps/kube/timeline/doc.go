// Package timeline says what changed in a cluster before a failure, from everything there that keeps
// a time: one line each, in order.
//
//	source      time                                      who
//	git         of the committer, from HEAD of a clone    its author
//	argocd      a deployment in the history, an operation who began it
//	flux        a condition that turned, a release, an artifact
//	helm        a record of a revision                    (its labels alone are read)
//	rollout     a ReplicaSet or a ControllerRevision
//	object      made, changed by managedFields, in deletion
//	event       a warning
//
// managedFields keep one time for all that a manager wrote, in whole seconds: of several writes the
// last one. What was deleted leaves nothing, and what was removed from an object leaves no author.
// Lists are of metadata alone, but for those of controllers and events, and no value of an object is
// read. Lines that are equal but for their time are folded. A source that could not be read is
// named, and nothing is then said of how many changes there were.
package timeline
