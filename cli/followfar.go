package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"handrail/session"
	"handrail/session/index/depot"
)

// farCopies are the copies of a bundle in a bucket or a repository, fetched into a
// folder that goes with them.
type farCopies struct {
	mu    sync.Mutex // Close waits for a fetch
	watch depot.Watch
}

// Newest implements [session.Copies].
func (c *farCopies) Newest(ctx context.Context) (string, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, there, err := c.watch.Look(ctx)
	return path, there.When, err
}

// Close implements [session.Copies].
func (c *farCopies) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return os.RemoveAll(c.watch.Dir)
}

// followFar looks on at an incident that another handrail pushes.
func (p *program) followFar(ctx context.Context, place string, plain bool) (err error) {
	store, id, err := p.farBundle(ctx, place)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "handrail-follow-")
	if err != nil {
		return fmt.Errorf("making a folder for the copies: %w", err)
	}
	from := &farCopies{watch: depot.Watch{From: store, ID: strings.TrimSuffix(id, depot.Live("")), Dir: dir}}
	tape, err := session.FollowPushed(ctx, from, place, p.reading())
	switch {
	case errors.Is(err, depot.ErrNone):
		err = &problem{code: ExitUsage, err: err, next: "whoever works on it pushes it with `handrail bundle push " + from.watch.ID + " PLACE --follow`"}
	case err != nil:
		err = depotError(err)
	}
	if err != nil {
		return errors.Join(err, from.Close())
	}
	if !plain {
		return p.look(ctx, tape)
	}
	fmt.Fprintf(p.stderr, "handrail: a pushed copy, stored %s; it is asked for every 5 seconds\n", tape.Heard().Stored.UTC().Format("2006-01-02 15:04:05Z"))
	return errors.Join(p.printFollowed(ctx, tape), tape.Close())
}

// pushEvery is how often an open bundle is pushed at most; what takes long to push
// is pushed less often.
const pushEvery = 5 * time.Second

// pushFollow pushes a bundle again after new entries, until its incident is closed
// or somebody has seen enough. What the network does to a push is said, and tried
// again; what lies there and is another history ends it.
func (p *program) pushFollow(ctx context.Context, path string, to depot.Replacer, work string) error {
	tape, err := session.Follow(path, p.reading())
	if err != nil {
		return hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
	}
	defer tape.Close() //nolint:errcheck // only read from
	fmt.Fprintf(p.stdout, "%s\n", safe(to.Place(depot.Live(idOf(path)))))
	fmt.Fprintf(p.stderr, "Whoever looks on: handrail follow %s\n", safe(to.Place(idOf(path))))
	tick := time.NewTicker(lookingPlain)
	defer tick.Stop()
	var there depot.Stored
	var due time.Time
	trouble, sent := "", -1
	for {
		_, last := tape.Place()
		if last != sent && !p.now().Before(due) {
			began := p.now()
			got, err := depot.PushLive(ctx, path, work, to, there)
			due = began.Add(max(pushEvery, 10*p.now().Sub(began)))
			switch {
			case ctx.Err() != nil:
				return nil
			case err == nil:
				there, sent, trouble = got, last, ""
				fmt.Fprintf(p.stderr, "handrail: pushed, %s\n", counted(last+1, "entry"))
			case errors.Is(err, depot.ErrOther), errors.Is(err, depot.ErrPlace), errors.Is(err, depot.ErrTooLong):
				return depotError(err)
			case err.Error() != trouble:
				trouble = err.Error()
				fmt.Fprintf(p.stderr, "handrail: not pushed: %s; it is tried again\n", safe(trouble))
			}
		}
		if last == sent && tape.Snapshot().State.Outcome != "" {
			fmt.Fprintf(p.stderr, "The incident is closed. Once it is sealed, push the whole of it: handrail bundle push %s\n", safe(idOf(path)))
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if n := tape.Grow(); n > 0 {
			_, last := tape.Place()
			tape.Go(last)
		}
	}
}
