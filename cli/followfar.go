package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/session/index/depot"
	"handrail/session/replay"
)

// farCopies are the copies of a bundle in a bucket or a repository, fetched into a
// folder that goes with them.
type farCopies struct {
	mu    sync.Mutex // Close waits for a fetch
	watch depot.Watch
}

// Newest implements [replay.Copies].
func (c *farCopies) Newest(ctx context.Context) (string, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, there, err := c.watch.Look(ctx)
	return path, there.When, err
}

// Close implements [replay.Copies].
func (c *farCopies) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return os.RemoveAll(c.watch.Dir)
}

// followFar looks on at an incident that another handrail pushes.
func followFar(ctx context.Context, p *process.Program, place string, plain bool, o process.Output) (err error) {
	store, id, err := bundle.FarBundle(ctx, p, place)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "handrail-follow-")
	if err != nil {
		return fmt.Errorf("making a folder for the copies: %w", err)
	}
	from := &farCopies{watch: depot.Watch{From: store, ID: strings.TrimSuffix(id, depot.Live("")), Dir: dir}}
	tape, err := replay.FollowPushed(ctx, from, place, bundle.Reading(p))
	switch {
	case errors.Is(err, depot.ErrNone):
		err = &process.Problem{Code: process.ExitUsage, Err: err, Next: "the person who works on it pushes it with `handrail bundle push " + from.watch.ID + " PLACE --follow`"}
	case err != nil:
		err = bundle.DepotError(err)
	}
	if err != nil {
		return errors.Join(err, from.Close())
	}
	if !plain {
		return look(ctx, p, tape)
	}
	fmt.Fprintf(p.Stderr, "handrail: a pushed copy, stored %s; it is asked for every 5 seconds\n", tape.Heard().Stored.UTC().Format("2006-01-02 15:04:05Z"))
	return errors.Join(printFollowed(ctx, p, tape, o), tape.Close())
}
