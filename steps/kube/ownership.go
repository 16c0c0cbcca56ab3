package kube

import (
	"context"
	"fmt"

	"handrail/steps"
)

// ownership gathers who writes an object.
type ownership struct {
	owners    []steps.Owner
	findings  []steps.Finding
	gaps      []string
	confirmed bool     // one of the owners was read and claims the object
	doubts    []string // why nobody can say that there is no other
}

// The answers to whether an owner is paused.
const (
	pausedYes     = "yes"
	pausedNo      = "no"
	pausedUnknown = "unknown"
)

// add names one owner; the first word on it stays, since two marks may lead to
// the same one.
func (w *ownership) add(name, paused, how string) {
	for _, o := range w.owners {
		if o.Name == name {
			return
		}
	}
	w.owners = append(w.owners, steps.Owner{Name: name, Paused: paused, How: how})
	if paused != pausedUnknown {
		w.confirmed = true
	}
}

// doubt names an owner that could not be read.
func (w *ownership) doubt(name, why, how string) {
	w.add(name, pausedUnknown, how)
	w.doubts = append(w.doubts, name+": "+why)
	w.gaps = append(w.gaps, name+": "+why)
}

func (w *ownership) find(level steps.Level, format string, args ...any) {
	w.findings = append(w.findings, steps.Finding{Level: level, Say: fmt.Sprintf(format, args...)})
}

// resolve resolves who would undo a change of o: its parents by UID, and the
// tools whose marks it bears. The error is for a caller that turned away; what
// cannot be read is an owner that nobody knows to be paused.
func resolve(ctx context.Context, c *client, t target, o object) (*ownership, error) {
	w := &ownership{}
	for _, by := range []func(context.Context, *client, target, object, *ownership) error{byParents, byArgo, byFlux, byHelm} {
		if err := by(ctx, c, t, o, w); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("owners of %s: %w", t, err)
		}
	}
	return w, nil
}

// listOwners says who would undo a change of o (law 12), and what nobody could
// tell.
func listOwners(ctx context.Context, c *client, t target, o object) ([]steps.Owner, []string, error) {
	w, err := resolve(ctx, c, t, o)
	if err != nil {
		return nil, nil, err
	}
	gaps := w.gaps
	for _, f := range w.findings {
		if f.Level != steps.Info {
			gaps = append(gaps, f.Say)
		}
	}
	return w.owners, gaps, nil
}
