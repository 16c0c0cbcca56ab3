package stage

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// Interval is how soon it is asked for the second time whether something is so.
const Interval = 20 * time.Millisecond

// rarest is how often it is asked in the end: what takes long is asked about less often, since the answer costs the API
// server as much as the work that is waited for.
const rarest = time.Second

// Tail is the end of what a program said.
func Tail(out []byte) string {
	const most = 1500
	out = bytes.TrimSpace(out)
	return string(out[max(0, len(out)-most):])
}

// settleLimit is for a machine under load; a controller answers in a second.
const settleLimit = 5 * time.Minute

// Wait asks until it is so. What is said is the reason when it never is.
func (st *Stage) Wait(ctx context.Context, otherwise string, so func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleLimit, errors.New(otherwise+" within "+settleLimit.String()))
	defer cancel()
	every := Interval
	tick := time.NewTimer(every)
	defer tick.Stop()
	for {
		if done, err := so(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			every = min(every*3/2, rarest)
			tick.Reset(every)
		}
	}
}
