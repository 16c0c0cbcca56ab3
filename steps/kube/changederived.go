package kube

import (
	"strings"

	"handrail/steps/kube/patch"
)

// rewritten: none of the fields was rewritten by somebody else a moment ago. Such
// a field is what a controller makes of something else; what is written into it
// lasts until its next pass.
func (pl *planning) rewritten(ops []patch.Op) {
	if _, why := pl.c.now(); why != "" {
		pl.unmet("set the clock right, then preview again", "Whether somebody rewrites what the patch is about cannot be told: %s.", ended(why))
		return
	}
	var pointers []string
	for _, op := range ops {
		pointers = append(pointers, strings.TrimSuffix(op.Path, "/-"))
	}
	for _, doubt := range pl.derived(pl.subject, pointers) {
		pl.show("written at an unknown time", "%s", clip(doubt, 300))
	}
}
