// Package form asks for words: a [Form] is the sheet that rises from the bottom
// of a screen, with fields of text or of choices, and an [Editor] is one line in
// which text is typed.
//
// A form collects values and hands them to Submit; it knows nothing of incidents
// or intents. A choice begins with nothing chosen, so that enter alone answers
// no question. A form without fields is only read.
//
// Both are our own rather than bubbles' textinput: an editor must say whether
// any of its text was pasted, since that is recorded with the phrase of a gate,
// and what it draws must go through [ink.Shown].
package form
