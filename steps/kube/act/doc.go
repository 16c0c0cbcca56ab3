// Package act reads back what was approved at a gate of a cluster, sends it once,
// and says what it came to.
//
// An [Order] is all that an act knows of its target: what the preview showed, read
// back by grammars that let no redacted value through. [Send] builds the request
// from it, refuses one whose text differs from what was shown, and lets it through
// a guard that knows method, path and digest of that one request and opens once.
// Every request holds the UID and the version (or the old values) as a
// precondition on the server's side; where the status alone moved since, it is
// sent again, a few times ([Order] then carries the digest of the rest).
//
// What an act came to is judged by reading the target again ([Sighting], [Judge]):
// done, failed, or not known. An answer that never arrived is settled only after
// the server has given up on the request; [Find] and [Reread] judge the same way
// later, from the record alone. Whether something may be asked for at all is not
// decided here but by the gates in steps/kube/change, which alone may call this
// package.
package act
