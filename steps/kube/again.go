package kube

import (
	"context"
	"fmt"
	"time"

	"handrail/steps"
	"handrail/steps/kube/patch"
)

// againAfter is when the target of an act is read again: controllers that undo
// what people do were seen to do it within ten to twenty seconds.
const againAfter = 30 * time.Second

// untold says that what is there does not tell whether an act still stands.
const untold = "unknown"

// again reads the target of an act that was done, and says whether it stands.
func again(ctx context.Context, env steps.Env, before []steps.KV, ops []patch.Op, judged judge, out steps.Sink) (steps.Outcome, error) {
	return findWith(ctx, env, before, ops, judged, out)
}

// stands judges an object that was changed and is still there. One that is gone
// tells nothing of its fields.
func stands(judged judge) judge {
	return func(o order, now sighting) (result, words string) {
		switch {
		case now.absent:
			return untold, fmt.Sprintf("%s is gone, and what was done to it with it.", o.object)
		case now.other != "":
			return untold, fmt.Sprintf("%s was made again by somebody, UID %s%s: look whether that one is as it should be.", o.object, now.other, now.by())
		}
		return judged(o, now)
	}
}

// standsMade judges an object that was made. One that is gone may have come to
// its end by itself, as Jobs do.
func standsMade(judged judge) judge {
	return func(o order, now sighting) (result, words string) {
		if now.absent {
			return untold, fmt.Sprintf("%s is not there any more: somebody deleted it, or it came to its end.", o.object)
		}
		return judged(o, now)
	}
}
