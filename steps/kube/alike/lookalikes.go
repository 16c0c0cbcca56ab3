package alike

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
)

// MostTold bounds the look-alikes that a finding warns of, the closest first.
const MostTold = 10

// mostDecoys bounds the look-alikes in a fact; how many more there are is said.
const mostDecoys = 50

func lookalikesFacts() []steps.Field {
	return []steps.Field{
		{Name: "decoys", Type: steps.Strings, Doc: "names of what could be taken for the object"},
		{Name: "elsewhere", Type: steps.Strings, Doc: "objects of that name in other namespaces, other API groups and kinds that do the same work, and of its spec under other names, as kind/namespace/name"},
		{Name: "apart", Type: steps.Table, Doc: "name of each to what tells it from the object"},
		{Name: "hook", Type: steps.Bool, Doc: "whether the object is a hook of Argo CD or Helm"},
		{Name: "policy", Type: steps.String, Doc: "delete policy of the hook, empty for none"},
		{Name: "owned_by", Type: steps.String, Doc: "value of a label that names an owner, empty for none"},
		{Name: "no_orphan", Type: steps.String, Doc: "why it is no orphan, empty where it is one"},
		{Name: "orphan", Type: steps.Bool, Doc: "held by a finalizer and unmanaged: no delete policy, no owner label, no controller, no tracking"},
	}
}

// Lookalike is an object that could be taken for the target.
type Lookalike struct {
	Name, uid string
	Apart     string // what tells it from the target
}

type lookalikesProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p lookalikesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: c.Kubectl(t.Namespace, "get", t.Resource.String(), "--show-labels")}
	f := steps.NewFacts(lookalikesFacts())
	o, err := c.Get(ctx, t.Resource, t.Namespace, t.Name)
	if errors.Is(err, cluster.ErrAbsent) {
		obs.Summary = t.String() + " is not there."
		obs.Facts = f.Rest(t.String() + " is not there")
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, err
	}
	m := owner.MarkersOf(o)
	f.Set("hook", steps.BoolOf(m.Hook != ""))
	f.Set("policy", steps.StringOf(m.Policy))
	f.Set("owned_by", steps.StringOf(m.OwnerValue))
	w, err := owner.Resolve(ctx, c, t, o)
	if err != nil {
		return steps.Observation{}, err
	}
	obs.Findings, obs.Gaps = w.Findings, w.Gaps
	orphan, whyNot, known := isOrphan(o, m, w)
	switch {
	case known:
		f.Set("orphan", steps.BoolOf(orphan))
		f.Set("no_orphan", steps.StringOf(whyNot))
	default:
		f.Unknown(whyNot, "orphan", "no_orphan")
	}
	say := "It is an orphan: held by a finalizer, with no visible owner."
	if !orphan {
		say = "It is no orphan: " + whyNot + "."
	}
	if !known {
		say = "Whether it is an orphan is not known: " + whyNot + "."
	}
	obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info, Say: say})
	like, err := Near(ctx, c, t, o)
	switch {
	case ctx.Err() != nil:
		return steps.Observation{}, fmt.Errorf("look-alikes of %s: %w", t, ctx.Err())
	case err != nil:
		f.Unknown(err.Error(), "decoys", "apart")
		obs.Gaps = append(obs.Gaps, "look-alikes: "+err.Error())
		obs.Summary = "What could be taken for " + t.String() + " is not known."
	default:
		listDecoys(t, like, f, &obs)
		like, gaps, err := Around(ctx, c, t, o, like)
		if err != nil {
			return steps.Observation{}, err
		}
		tellAround(t, like, gaps, f, &obs)
	}
	obs.Findings = append(obs.Findings, c.Warnings()...)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

func listDecoys(t cluster.Target, like []Lookalike, f steps.Facts, obs *steps.Observation) {
	names, tells := []string{}, map[string]string{}
	for _, l := range like {
		names, tells[l.Name] = append(names, l.Name), l.Apart
	}
	noun := "objects"
	if len(like) == 1 {
		noun = "object"
	}
	obs.Summary = fmt.Sprintf("%d %s could be taken for %s.", len(like), noun, t)
	if len(like) > mostDecoys {
		why := fmt.Sprintf("%d objects look like it, more than the %d that a fact names", len(like), mostDecoys)
		f.Unknown(why, "decoys", "apart")
		obs.Gaps = append(obs.Gaps, why)
		return
	}
	for _, l := range like[:min(len(like), MostTold)] {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: "Not " + l.Name + ": " + l.Apart + "."})
	}
	f.Set("decoys", steps.StringsOf(names))
	f.Set("apart", steps.TableOf(tells))
}
