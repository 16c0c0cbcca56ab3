package drills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"handrail/drills/inject"
	"handrail/drills/stage"
)

// stopLimit is how long ending a drill may take, on a machine under load.
const stopLimit = 3 * time.Minute

// Stop ends what the drill started, takes its finalizers off what it made,
// deletes its namespace, or empties it with o.Vacate, and removes its directory; the bundle stays. o.Lab may be nil, and a lab that is not the
// drill's is left alone: the namespace went with its own. Without such a drill
// the error is ErrNotStarted.
func Stop(ctx context.Context, o Options, id string) error {
	if !inject.IDForm.MatchString(id) {
		return fmt.Errorf("drill %q: %w", id, ErrNotStarted)
	}
	dir := home(o.State, id)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drill %s: %w", id, ErrNotStarted)
	}
	rec, err := recordOf(o.State, id)
	if err != nil && !errors.Is(err, ErrNotStarted) {
		return err // what it started is not known, so nothing is removed
	}
	if rec.Nonce != "" {
		if err := end(ctx, rec); err != nil {
			return fmt.Errorf("stopping drill %s: %w", id, err)
		}
	}
	if o.Lab != nil && rec.Namespace.Name != "" && o.Lab.IsLabUID(rec.Cluster) {
		st := stage.Stage{Rec: rec, Home: dir, Now: o.Now, Say: o.say}
		if err := o.Lab.Unhook(ctx, rec.Namespace.Name); err != nil {
			return fmt.Errorf("stopping drill %s: %w", id, err)
		}
		if err := st.Release(ctx, o.Lab); err != nil {
			return fmt.Errorf("stopping drill %s: %w", id, err)
		}
		remove := o.Lab.DeleteNamespace
		if o.Vacate {
			remove = o.Lab.VacateNamespace
		}
		if err := remove(ctx, rec.Namespace.Name); err != nil {
			return fmt.Errorf("stopping drill %s: %w", id, err)
		}
	}
	for _, folder := range rec.Folders {
		if err := away(ctx, folder); err != nil {
			return fmt.Errorf("stopping drill %s: %w", id, err)
		}
	}
	return os.RemoveAll(dir)
}

// away removes a folder. A database that was killed has children that write until they see it.
func away(ctx context.Context, folder string) error {
	tick := time.NewTicker(stage.Interval)
	defer tick.Stop()
	for {
		err := os.RemoveAll(folder)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// end kills what the drill started, its leaders and what they left behind, and
// waits until all of it is gone.
func end(ctx context.Context, rec stage.Record) error {
	tick := time.NewTicker(stage.Interval)
	defer tick.Stop()
	for {
		left, err := stage.Kill(rec)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d processes of the drill do not end: %w", left, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
