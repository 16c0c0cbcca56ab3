// Package tui is the face of handrail: the screens that people on the call look
// at, and the keys that they press.
//
// It decides nothing. A key becomes a [triage.Intent], the incident answers with
// a new [session.Snapshot], and the screens draw that: what is allowed, what the
// loop would do next and why something is refused all come from the snapshot.
// The phrase of a gate is never compared here.
//
// Vocabulary: a *screen* fills the terminal (home, match, run, evidence, help);
// a *pane* is the part of the run screen that draws one step; a *sheet* is a
// form that rises from the bottom of a screen; the *move* is what enter would do
// and is always written above the keys.
package tui
