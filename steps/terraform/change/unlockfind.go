package change

import (
	"context"
	"fmt"
	"strconv"

	"handrail/steps"
)

// Find implements steps.Finder: it reads the lock again and says what a
// force-unlock came to whose end was not recorded.
func (g UnlockGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	t, err := g.read(ctx, in, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	tool, id := steps.Find(before, keyTool), steps.Find(before, keyID)
	for _, key := range []string{keyServer, keyCluster, keyLock} {
		if was, now := steps.Find(before, key), steps.Find(t.target(tool), key); was != now {
			return steps.Outcome{}, fmt.Errorf("%s is %q now, the act was on %q: go back to where it was", key, now, was)
		}
	}
	o := steps.Outcome{After: t.target(tool)}
	switch {
	case t.lock.Held && t.lock.ID == id:
		o.Result, o.Response = steps.Failed, fmt.Sprintf("The lock %s is still held.", id)
	case t.lock.Held:
		o.Result, o.Response = steps.Done, fmt.Sprintf("The lock %s is gone; it is taken again as %s.", id, t.lock.ID)
	case t.noSnap != nil:
		o.Result, o.Response = steps.Done, fmt.Sprintf("The lock %s is gone; the state could not be read: %v", id, t.noSnap)
	case strconv.FormatInt(t.state.Serial, 10) != steps.Find(before, keySerial):
		o.Result, o.Response = steps.Done, fmt.Sprintf("The lock %s is gone, and the state moved from serial %s to %d meanwhile: a writer is alive.", id, steps.Find(before, keySerial), t.state.Serial)
	default:
		o.Result, o.Response = steps.Done, fmt.Sprintf("The lock %s is gone, and the state is as it was.", id)
	}
	return o, nil
}
