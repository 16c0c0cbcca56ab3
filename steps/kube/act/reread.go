package act

import (
	"context"
	"fmt"
	"time"

	"handrail/steps"
	"handrail/steps/kube/patch"
)

// RereadAfter is when the target of an act is read again: controllers that undo
// what people do were seen to do it within ten to twenty seconds.
const RereadAfter = 30 * time.Second

// untold says that what is there does not tell whether an act still stands.
const untold = "unknown"

// Reread reads the target of an act that was done, and says whether it stands.
func Reread(ctx context.Context, env steps.Env, before []steps.KV, ops []patch.Op, judged Judge, out steps.Sink) (steps.Outcome, error) {
	return FindWith(ctx, env, before, ops, judged, out)
}

// Stands judges an object that was changed and is still there. One that is gone
// tells nothing of its fields.
func Stands(judged Judge) Judge {
	return func(o Order, now Sighting) (result, words string) {
		switch {
		case now.Absent:
			return untold, fmt.Sprintf("%s is gone, and what was done to it with it.", o.Object)
		case now.Other != "":
			return untold, fmt.Sprintf("%s was created again, UID %s%s: look whether that one is as it should be.", o.Object, now.Other, now.By())
		}
		return judged(o, now)
	}
}

// StandsMade judges an object that was made. One that is gone may have come to
// its end by itself, as Jobs do.
func StandsMade(judged Judge) Judge {
	return func(o Order, now Sighting) (result, words string) {
		if now.Absent {
			return untold, fmt.Sprintf("%s is not there any more: it was deleted, or it finished.", o.Object)
		}
		return judged(o, now)
	}
}
