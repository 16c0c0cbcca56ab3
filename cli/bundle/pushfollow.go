package bundle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handrail/cli/process"
	"handrail/session/index/depot"
	"handrail/session/replay"
)

// LookingPlain is how often a journal is looked at for new lines.
const LookingPlain = 500 * time.Millisecond

// pushEvery is how often an open bundle is pushed at most; what takes long to push
// is pushed less often.
const pushEvery = 5 * time.Second

// pushFollow pushes a bundle again after new entries, until its incident is closed
// or the operator ends it. What the network does to a push is said, and tried
// again; what lies there and is another history ends it.
func pushFollow(ctx context.Context, p *process.Program, path string, to depot.Replacer, work string) error {
	tape, err := replay.Follow(path, Reading(p))
	if err != nil {
		return process.Hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
	}
	defer tape.Close()
	fmt.Fprintf(p.Stdout, "%s\n", process.Safe(to.Place(depot.Live(IDOf(path)))))
	fmt.Fprintf(p.Stderr, "To look on: handrail follow %s\n", process.Safe(to.Place(IDOf(path))))
	tick := time.NewTicker(LookingPlain)
	defer tick.Stop()
	var there depot.BundleInfo
	var due time.Time
	trouble, sent := "", -1
	for {
		_, last := tape.Place()
		if last != sent && !p.Now().Before(due) {
			began := p.Now()
			got, err := depot.PushLive(ctx, path, work, to, there)
			due = began.Add(max(pushEvery, 10*p.Now().Sub(began)))
			switch {
			case ctx.Err() != nil:
				return nil
			case err == nil:
				there, sent, trouble = got, last, ""
				fmt.Fprintf(p.Stderr, "handrail: pushed, %s\n", process.Counted(last+1, "entry"))
			case errors.Is(err, depot.ErrOther), errors.Is(err, depot.ErrPlace), errors.Is(err, depot.ErrTooLong):
				return DepotError(err)
			case err.Error() != trouble:
				trouble = err.Error()
				fmt.Fprintf(p.Stderr, "handrail: not pushed: %s; it is tried again\n", process.Safe(trouble))
			}
		}
		if last == sent && tape.Snapshot().State.Outcome != "" {
			fmt.Fprintf(p.Stderr, "The incident is closed. Once it is sealed, push the whole of it: handrail bundle push %s\n", process.Safe(IDOf(path)))
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
