package owner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

func facts() []steps.Field {
	return []steps.Field{
		{Name: "owners", Type: steps.Strings, Doc: "controllers that write the object, with whether each is paused"},
		{Name: "active", Type: steps.Strings, Doc: "those that are not known to be paused"},
		{Name: "managed", Type: steps.Bool, Doc: "whether there is any"},
	}
}

type probe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml", "--show-managed-fields")}
	f := steps.NewFacts(facts())
	o, err := c.Get(ctx, t.Resource, t.Namespace, t.Name)
	if errors.Is(err, cluster.ErrAbsent) {
		obs.Summary = t.String() + " is not there: it has no owner."
		obs.Facts = f.Rest(t.String() + " is not there")
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, err
	}
	w, err := Resolve(ctx, c, t, o)
	if err != nil {
		return steps.Observation{}, err
	}
	obs.Findings, obs.Gaps = append(w.Findings, c.Warnings()...), w.Gaps
	var all, active []string
	for _, owner := range w.Owners {
		all = append(all, owner.Name+" (paused: "+owner.Paused+")")
		if owner.Paused != PausedYes {
			active = append(active, owner.Name)
		}
		if owner.Paused == PausedUnknown {
			obs.Say(steps.Warning, "Whether %s is paused is not known (%s). A gate then asks for a person who answers for it, by name.", owner.Name, report.OrNothing(owner.How))
		}
	}
	f.Set("owners", steps.StringsOf(all))
	f.Set("active", steps.StringsOf(active))
	if why := strings.Join(w.Doubts, "; "); len(w.Doubts) > 0 && !w.Confirmed {
		f.Unknown(why, "managed")
	} else {
		f.Set("managed", steps.BoolOf(w.Confirmed))
	}
	if len(w.Doubts) > 0 && len(w.Owners) == 0 {
		f.Unknown(strings.Join(w.Doubts, "; "), "owners", "active")
	}
	switch {
	case len(all) == 0 && len(w.Doubts) > 0:
		obs.Summary = "Who owns " + t.String() + " is not known."
	case len(all) == 0:
		obs.Summary = t.String() + " has no owner."
	case len(active) == 0:
		obs.Summary = fmt.Sprintf("%s is owned by %s; all are paused.", t, strings.Join(all, ", "))
	default:
		obs.Summary = fmt.Sprintf("%s would undo a change of %s.", strings.Join(active, ", "), t)
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}
