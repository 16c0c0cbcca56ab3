// Package tui is the face of handrail: the screens that people on the call look
// at, and the keys that they press.
//
// It decides nothing. A key becomes a [triage.Intent], the incident answers with
// a new [view.Snapshot], and the screens draw that: what is allowed, what the
// loop would do next and why something is refused all come from the snapshot.
// The phrase of a gate is never compared here.
//
// Vocabulary: a *screen* fills the terminal (home, match, run, evidence); a *pane*
// is a part of one; a *sheet* is a form that rises from the bottom of a screen;
// the *move* is what enter would do and is always written above the keys.
//
// The rooms, each of which imports only those before it:
//
//	ink       text, colours, widths: pure drawing
//	keymap    the table of keys
//	form      sheets and lines in which words are typed
//	incident  what screens ask of the incident that is shown
//	screen    what the program and its screens agree on
//	sheets    the form of each intent that needs words
//	home match wait run viewer seal gate overlay header
//	          the screens, and what lies over or above them; none imports another
//
// The package itself is the program around them: one [tea.Model] that gives each
// message to what is in front, keeps the clock, obeys what screens ask for, and
// remembers where a person was.
//
// A screen is added with a file of its own, which implements [screen.Screen], and
// a line in the table of screens. A line with a key opens it by that key, and the
// help, the palette and the key file know it. What it wants of another screen is
// a [screen.Request].
package tui
