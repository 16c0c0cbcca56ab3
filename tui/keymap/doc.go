// Package keymap is the one table of keys: the footer, the help, the palette and
// the key file of a person are all made from it.
//
// A command has a name, by which a key file and the palette call it, the area
// where it counts, its keys and two sentences: one for the footer, one for the
// help. Areas that are in force together must have different keys; letters are
// free on every screen but where text is typed. Keys that a person must find on
// any machine (enter, esc, ctrl+c, the answers to a question) cannot be changed.
package keymap
