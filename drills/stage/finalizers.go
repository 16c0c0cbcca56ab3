package stage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"handrail/drills/lab"
)

// Release takes the drill's own finalizers off one object; one that is gone has
// none.
func (r *robot) Release(ctx context.Context, h HeldObject) error {
	for {
		var object struct {
			Metadata struct {
				ResourceVersion string
				Finalizers      []string
			}
		}
		err := r.Get(ctx, h.Path, &object)
		if HasCode(err, http.StatusNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		meta := object.Metadata
		left := slices.DeleteFunc(slices.Clone(meta.Finalizers), func(f string) bool { return slices.Contains(h.Finalizers, f) })
		if len(left) == len(meta.Finalizers) {
			return nil
		}
		err = r.Patch(ctx, h.Path, map[string]any{"metadata": map[string]any{"resourceVersion": meta.ResourceVersion, "finalizers": left}})
		switch {
		case HasCode(err, http.StatusNotFound):
			return nil
		case HasCode(err, http.StatusConflict): // another write came in between: look again
			continue
		}
		return err
	}
}

// Release frees what the drill made of the finalizers that nothing will ever take
// away, so that its namespace can go. It is written down when it is done: the
// account that can do it goes with the namespace.
func (st *Stage) Release(ctx context.Context, l *lab.Lab) error {
	if len(st.Rec.Held) == 0 {
		return nil
	}
	err := st.Connect(ctx, l)
	for _, h := range st.Rec.Held {
		if err == nil {
			err = st.Robot.Release(ctx, h)
		}
	}
	if errors.Is(err, lab.ErrNoAccount) {
		err = nil // the namespace was taken away before, and its accounts with it
	}
	if err != nil {
		return fmt.Errorf("taking its finalizers away: %w", err)
	}
	st.Rec.Held = nil
	return st.Save()
}
