// Package viewer shows the evidence: the list of entries, one entry with its raw
// artifacts, what a running step prints, and the report.
//
// An artifact may have any size. Nothing of it is held in memory but the page
// that is shown, and all reading goes on beside the loop, in two lanes with one
// piece of work each: pages, for which a person waits, and lines that are counted
// or searched, a slice at a time. What keys want while a page is on its way is
// put together, so that no row of old keys builds up. An answer for a text that
// was left carries an older number and is dropped.
//
// That is why the viewer is our own rather than a bubbles viewport, which holds
// all lines in memory and takes them as they are: a log of a gibibyte opens as
// fast as one of a page, and every line is made harmless when it is drawn.
//
// The report is laid out for a width as lines of the same kind, and laid out
// again where the width changes; what is saved of it is the Markdown.
package viewer
