// Package gate is the modal in front of a dangerous act.
//
// It decides nothing. It shows what the incident says of the gate, and hands over
// what was typed: the phrase is compared in the session, never here. Consequence,
// target and phrase always stand on the screen; what is between them scrolls, and
// where an object that looks like the target is below the fold, that is said.
//
// Keys meant for the screen below must not reach it: a gate that has just been
// armed, or whose preview is another one than before, has an empty line and
// listens only after the keyboard was quiet for a moment ([Grace]). Enter alone
// does nothing. Esc disarms; it never stops an act. A pasted phrase counts, and is
// recorded as pasted.
//
// Where the policy asks for a second person, the line takes their approval first;
// whether it counts is for the incident to say.
package gate
