package owner

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
)

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

// byArgo adds the Argo CD application that tracks o. A mark whose application is
// not here is still one: Argo CD often runs in another cluster than the objects.
func byArgo(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, w *Ownership) error {
	mark := o.GetAnnotations()[ArgoTracking]
	if mark == "" {
		return argoByLabel(ctx, c, t, o, w)
	}
	id, err := ParseTracking(mark)
	if err != nil {
		w.find(steps.Warning, "%s: %v; Argo CD passes over it.", t, err)
		return argoByLabel(ctx, c, t, o, w)
	}
	if !id.Of(t) {
		w.find(steps.Info, "The tracking id %q of %s is that of another object: it was copied, and Argo CD passes over it.", steps.Clip(id.String(), 300), t)
		return argoByLabel(ctx, c, t, o, w)
	}
	apps, err := Applications(ctx, c, id.AppNamespace, id.App)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		w.doubt(ArgoName(id.AppNamespace, id.App), err.Error(), "ask the team that runs Argo CD whether its auto-sync is off")
		return nil
	}
	for _, app := range apps {
		if err := argoApplication(ctx, c, t, app, w); err != nil {
			return err
		}
	}
	if len(apps) == 0 {
		w.doubt(ArgoName(id.AppNamespace, id.App), "no application of that name is in this cluster; Argo CD may run in another one",
			"ask the team that runs Argo CD whether its auto-sync is off")
	}
	return nil
}
