// Package object reads objects of a cluster as they are: one whole, one field of
// it, or a list as the columns of kubectl or as metadata.
//
// It says what the server says: identity, finalizers, owners by reference,
// conditions, ages by the server's clock, and the newest line of managedFields as
// the lead that it is. It judges nothing. Values of a Secret are never read into a
// fact, a diff or a hash ([ContentSum]); its metadata is.
//
// A list is kept as an artifact while it is read, and its digest holds only where
// every page was of one moment and every object had a UID; what a page left out
// is a gap.
//
// [Protection] is by which labels and annotations an object is marked as not to
// be changed. [Diff] compares two objects field by field, for a preview: without
// what every write moves, and with the order of lists.
package object
