// Package overlay has what lies over a screen and is put away again: the help,
// and the palette, which finds by its words what can be done.
//
// Neither does anything that has no other way. Both are made from the table of
// keys, so that a command which is added there is in both. The help is our own
// rather than bubbles' help: that one draws a footer of key bindings, this one is
// a page of sentences that scrolls.
package overlay
