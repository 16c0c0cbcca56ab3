package drills

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"handrail/drills/stage"
	"handrail/session/journal"
	"handrail/steps/fault"
	"handrail/triage"
)

// glance is how often the journal of a drill is looked at: a person needs
// seconds to type a phrase.
const glance = 50 * time.Millisecond

// follower looks for gates and manual steps beside the session that a person walks.
type follower struct {
	cancel context.CancelFunc
	work   sync.WaitGroup
	err    error // to be read after work
}

// Follow injects what the drill keeps for later as soon as its gate is armed,
// or its manual step done, in the bundle that walks it. It needs SetBundle before it, goes on beside the
// session until Close, and does nothing for a drill without such a thing.
func (r *Running) Follow() {
	if len(r.scene.later) == 0 || r.follow.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.follow.cancel = cancel
	path := r.stage.Rec.Bundle
	r.follow.work.Go(func() {
		defer fault.To(func(err error) { r.follow.err = fmt.Errorf("drill %s: %w", r.ID(), err) })
		if err := r.watch(ctx, path); err != nil && ctx.Err() == nil {
			r.follow.err = fmt.Errorf("drill %s: what comes later could not be injected: %w", r.ID(), err)
		}
	})
}

// watch folds the journal whenever it has grown. A gate that was shown and
// closed again, as after a crash, waits for its next preview.
func (r *Running) watch(ctx context.Context, bundle string) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	var size int64 = -1
	for {
		now, err := journalSize(bundle)
		if err != nil {
			return err
		}
		if now != size {
			size = now
			st, err := journal.LoadState(bundle)
			if err != nil {
				return err
			}
			for id, g := range st.Gates {
				if g.Phase != triage.GateArmed {
					continue
				}
				if err := r.comes(ctx, stage.StepName(id)); err != nil {
					return err
				}
			}
			for _, step := range st.Steps {
				if step.Kind != triage.ManualStep || step.Status != triage.Settled {
					continue
				}
				if err := r.comes(ctx, stage.StepName(step.ID)); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func journalSize(bundle string) (int64, error) {
	segments, err := filepath.Glob(filepath.Join(bundle, "journal", "*"))
	if err != nil {
		return 0, err
	}
	var size int64
	for _, s := range segments {
		info, err := os.Stat(s)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}
