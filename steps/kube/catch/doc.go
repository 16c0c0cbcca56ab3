// Package catch watches one object, or one field of it, for a window, and says who
// wrote it, how often, and whether an earlier value is put back.
//
// Each watch begins where the last one ended, so that nothing between them is
// missed; a server that no longer has that moment leaves a hole, and what a hole
// could hide is then unknown: that nothing happened is known of a whole window
// alone. Writers are those of managedFields: leads. Values of a Secret are not
// read; that one changed is seen by its metadata.
package catch
