// Package change holds the gates that change one named object of a cluster.
//
// A gate takes one resource, one name and one UID, or a list of such; nothing acts
// by selector or pattern, and each object of a list is held to what one alone is. Its preview reads the object (a subject), holds the floors against it
// and gathers what a person must see: who would undo the change, what could be
// taken for the object, what goes along, what it was before. A floor is a
// precondition that no person can waive: the object is the one that was read, is
// not protected, is not marked as managed, is not held by a living
// controller, takes no guard away and opens nothing but as the runbook declares.
// What could not be read for a floor keeps the gate shut, with what would open it.
//
// Only where every floor holds is the request rehearsed with dryRun=All, and the
// diff of a preview is that of the server's own answer. Admission that makes
// something else of the request refuses it. The act itself is steps/kube/act's;
// each gate adds how its outcome is judged, now and when the target is read again.
package change
