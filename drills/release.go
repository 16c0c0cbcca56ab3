package drills

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"handrail/drills/lab"
)

// release takes the drill's own finalizers off one object; one that is gone has
// none.
func (r *robot) release(ctx context.Context, h held) error {
	for {
		var object struct {
			Metadata struct {
				ResourceVersion string
				Finalizers      []string
			}
		}
		err := r.get(ctx, h.Path, &object)
		if hasCode(err, http.StatusNotFound) {
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
		err = r.patch(ctx, h.Path, map[string]any{"metadata": map[string]any{"resourceVersion": meta.ResourceVersion, "finalizers": left}})
		switch {
		case hasCode(err, http.StatusNotFound):
			return nil
		case hasCode(err, http.StatusConflict): // somebody wrote in between: look again
			continue
		}
		return err
	}
}

// release frees what the drill made of the finalizers that nobody will ever take
// away, so that its namespace can go. It is written down when it is done: the
// account that can do it goes with the namespace.
func (st *stage) release(ctx context.Context, o Options) error {
	if len(st.rec.Held) == 0 {
		return nil
	}
	err := st.connect(ctx, o.Lab)
	for _, h := range st.rec.Held {
		if err == nil {
			err = st.robot.release(ctx, h)
		}
	}
	if errors.Is(err, lab.ErrNoAccount) {
		err = nil // the namespace was taken away before, and its accounts with it
	}
	if err != nil {
		return fmt.Errorf("taking its finalizers away: %w", err)
	}
	st.rec.Held = nil
	return st.save()
}
