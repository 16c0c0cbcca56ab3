// Package match finds the runbook that fits: for an error text that is pasted
// ([Screen]), and for symptoms that are picked where there is none ([Symptoms]).
//
// Matching runs beside the loop on every change, and hits for an older text are
// dropped. Each hit says what it was recognised by. What the text says of its
// parameters is shown before an incident is opened.
//
// The text is our own rather than a bubbles textarea: it is never edited in the
// middle, only its end is shown, and it may be 256 KiB long.
package match
