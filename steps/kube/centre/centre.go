package centre

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"handrail/steps"
	"handrail/steps/cluster"
)

// Centre answers the questions of the command centre about one cluster. It reads
// through the transport that cannot write; nothing of what it reads is kept.
type Centre struct {
	c   *cluster.Client
	key string // label or annotation that marks break-glass
}

// BreakGlassKey is the label or annotation that marks what was opened or paused
// for an emergency, unless another one is named.
const BreakGlassKey = "break-glass"

// OpenCentre makes a client for the operator's cluster; nothing is asked of it
// yet. secret is told what requests authenticate with. key is the label or
// annotation of break-glass, "" for [BreakGlassKey].
func OpenCentre(env steps.Env, key string, secret func(string)) (*Centre, error) {
	c, err := cluster.Connect(env, steps.SecretsOnly(secret))
	if err != nil {
		return nil, err
	}
	if key == "" {
		key = BreakGlassKey
	}
	return &Centre{c: c, key: key}, nil
}

// answer collects what one question finds.
type answer struct{ steps.Answer }

// row adds a finding; what is beyond a screenful is counted.
func (w *answer) row(r steps.Standing) {
	if len(w.Rows) >= steps.MostStandings {
		w.More++
		return
	}
	r.What, r.Detail = steps.OneLine(r.What, 200), steps.Clip(r.Detail, 600)
	w.Rows = append(w.Rows, r)
}

func (w *answer) gap(what string, err error) { w.Gaps = append(w.Gaps, steps.GapOf(what, err)) }

// kind resolves a resource that this cluster may not serve. What is asked of a
// cluster without it is known not to be there.
func (s *Centre) kind(ctx context.Context, w *answer, name string) (cluster.Resource, bool) {
	r, err := s.c.Find(ctx, name)
	switch {
	case errors.Is(err, cluster.ErrNoKind):
		w.Gaps = append(w.Gaps, steps.Gap{What: name, Kind: steps.Absent, Say: "this cluster serves no " + name})
	case err != nil:
		w.gap(name, err)
	}
	return r, err == nil
}

// every shows see all objects of a resource. Where the whole cluster may not be
// listed, it shows those of the namespace of the context, and says so.
func (s *Centre) every(ctx context.Context, w *answer, r cluster.Resource, accept string, query url.Values, see func(cluster.Object)) {
	show := func(o cluster.Object) {
		o.SetKind(r.Kind)
		see(o)
	}
	what, from := r.String(), w.mark()
	err := s.c.ListItems(ctx, r.Path("", ""), accept, query, cluster.WholeItem, show)
	if cluster.IsForbidden(err) && r.Namespaced && s.c.Namespace != "" {
		w.back(from)
		all := err
		what += " of namespace " + s.c.Namespace
		if err = s.c.ListItems(ctx, r.Path(s.c.Namespace, ""), accept, query, cluster.WholeItem, show); err == nil {
			w.gap(r.String()+" of other namespaces", all)
		}
	}
	if err != nil {
		w.gap(what, lateError(ctx, s.c, err))
		return
	}
	w.Seen = append(w.Seen, what)
}

// lateError says that the time for a question was up, where that is why it failed.
func lateError(ctx context.Context, c *cluster.Client, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s did not answer in time: %w", c.Server, context.DeadlineExceeded)
	}
	return err
}

func (w *answer) mark() int { return len(w.Rows) }

func (w *answer) back(to int) { w.Rows = slices.Delete(w.Rows, to, len(w.Rows)) }

// get is the command by which a person would look at o.
func (s *Centre) get(r cluster.Resource, o cluster.Object) string {
	return s.c.Kubectl(o.GetNamespace(), "get", r.String(), o.GetName(), "-o", "yaml")
}

// finalizing is the row of an object that hangs in deletion, with the runbook
// for that.
func (s *Centre) finalizing(r cluster.Resource, o cluster.Object) (steps.Standing, bool) {
	at := o.GetDeletionTimestamp()
	if at == nil || len(o.GetFinalizers()) == 0 {
		return steps.Standing{}, false
	}
	row := steps.Standing{Level: steps.Warning, What: fmt.Sprintf("hangs in deletion, held by %s", steps.Clip(o.GetFinalizers()[0], 100)),
		Where: r.Label(o.GetNamespace(), o.GetName()), Since: at.Time, Owner: keptBy(o), Command: s.get(r, o), Detail: troubles(o),
		Runbook: "stuck-finalizer", Params: map[string]string{"resource": r.String(), "name": o.GetName()}}
	if r.Namespaced {
		row.Params["namespace"] = o.GetNamespace()
	}
	if len(o.GetFinalizers()) == 1 {
		row.Params["finalizer"] = o.GetFinalizers()[0]
	}
	return row, true
}
