package owner

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
)

// Ownership gathers who writes an object.
type Ownership struct {
	Owners    []steps.Owner
	Findings  []steps.Finding
	Gaps      []string
	Confirmed bool     // one of the owners was read and claims the object
	Doubts    []string // why it cannot be said that there is no other
}

// The answers to whether an owner is paused.
const (
	PausedYes     = "yes"
	PausedNo      = "no"
	PausedUnknown = "unknown"
)

// add names one owner; the first word on it stays, since two marks may lead to
// the same one.
func (w *Ownership) add(name, paused, how string) {
	for _, o := range w.Owners {
		if o.Name == name {
			return
		}
	}
	w.Owners = append(w.Owners, steps.Owner{Name: name, Paused: paused, How: how})
	if paused != PausedUnknown {
		w.Confirmed = true
	}
}

// doubt names an owner that could not be read.
func (w *Ownership) doubt(name, why, how string) {
	w.add(name, PausedUnknown, how)
	w.Doubts = append(w.Doubts, name+": "+why)
	w.Gaps = append(w.Gaps, name+": "+why)
}

func (w *Ownership) find(level steps.Level, format string, args ...any) {
	w.Findings = append(w.Findings, steps.Findingf(level, format, args...))
}

// Resolve resolves who would undo a change of o: its parents by UID, and the
// tools whose marks it bears. The error is for a caller that turned away; what
// cannot be read is an owner that is not known to be paused.
func Resolve(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object) (*Ownership, error) {
	w := &Ownership{}
	for _, by := range []func(context.Context, *cluster.Client, cluster.Target, cluster.Object, *Ownership) error{byParents, byArgo, byFlux, byHelm} {
		if err := by(ctx, c, t, o, w); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("owners of %s: %w", t, err)
		}
	}
	return w, nil
}

// List says who would undo a change of o (law 12), and what could not be
// told.
func List(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object) ([]steps.Owner, []string, error) {
	w, err := Resolve(ctx, c, t, o)
	if err != nil {
		return nil, nil, err
	}
	gaps := w.Gaps
	for _, f := range w.Findings {
		if f.Level != steps.Info {
			gaps = append(gaps, f.Say)
		}
	}
	return w.Owners, gaps, nil
}
