package inject

import (
	"context"
	"time"

	"handrail/drills/stage"
)

// backdate is the verb lock.backdate. A lock must be half an hour old before
// it may be broken, which is too long for a practice.
type backdate struct {
	By time.Duration `key:"by,required"`
}

func (b backdate) apply(ctx context.Context, st *stage.Stage) error {
	return st.BackdateLock(ctx, b.By)
}

// release is the verb lock.release: the owner of the server ends the lock with its own tools.
type release struct{}

func (release) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the owner of the server ends the lock")
	return st.ReleaseLock(ctx)
}

// freed is the verb lock.freed.
type freed struct{}

func (freed) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the backend is waited for, which ends the session of a dead run")
	return st.Wait(ctx, "the lock of the dead run is not freed", func() (bool, error) { return !st.Held(ctx), nil })
}
