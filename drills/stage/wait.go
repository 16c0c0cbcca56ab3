package stage

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// Interval is how often it is asked whether something is so.
const Interval = 20 * time.Millisecond

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
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		if done, err := so(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
