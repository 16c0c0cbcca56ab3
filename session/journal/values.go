// Package journal reads the entries of a bundle as the loop understands them.
//
// [Fold] applies one stored entry to a state and [LoadState] a whole bundle,
// within the bounds that hold for a stranger's. [OpenArtifact] opens what an entry
// keeps beside itself, and [Runbook] the runbook that a plan stored. [Vars] is what
// the conditions of a runbook see of a state, and what of it is too old for a gate to
// stand on; [Rows] is a comparison that follows from it. Session and audit judge by
// these same two. Nothing here writes, asks a clock or keeps a state.
package journal

import "strings"

// Bare is the id of a step without its runbook.
func Bare(step string) string {
	if i := strings.IndexByte(step, '/'); i >= 0 {
		return step[i+1:]
	}
	return step
}

// BookOf is the runbook of a step.
func BookOf(step string) string {
	if i := strings.IndexByte(step, '/'); i >= 0 {
		return step[:i]
	}
	return ""
}
