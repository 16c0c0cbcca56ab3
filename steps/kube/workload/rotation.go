package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

func rotationFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "changed_after_start", Type: steps.Strings, Doc: "keys of Secrets and ConfigMaps that containers took when they started and that were written since, with who wrote and when: such a container still has what was there before"},
		{Name: "missing", Type: steps.Strings, Doc: "Secrets and ConfigMaps that it names and that do not exist, without those that may be missing"},
		{Name: "newest_change", Type: steps.Time, Doc: "when the newest write of any that it takes was"},
		{Name: "template_changed", Type: steps.Bool, Doc: "whether its newest revision differs from the one before it in more than a restart"},
		{Name: "template_at", Type: steps.Time, Doc: "when the newest revision came"},
		{Name: "template_diff", Type: steps.Strings, Doc: "the fields of the template in which those two differ, without their values"},
		{Name: "restarted", Type: steps.Time, Doc: "when a restart of its Pods was last asked for"},
	}
}

type rotationProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p rotationProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, t, err := reachWorkload(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r := &rotationRun{c: c, t: t, facts: steps.NewFacts(rotationFacts())}
	r.Obs.Command = c.Kubectl(t.Namespace, "rollout", "history", t.Plural+"/"+t.Name)
	o, err := c.Get(inner, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return report.Absent(t, r.Obs.Command, r.facts, c.Warnings()), nil
	case err != nil:
		return steps.Observation{}, err
	}
	r.facts.Set("exists", steps.BoolOf(true))
	podsUnread := ""
	err = workloadPods(inner, c, t, o, &r.family, func(p podstate.Pod) {
		if p.Metadata.DeletionTimestamp != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" && t.Kind != "Pod" {
			return
		}
		frozen, fresh := rotationUses(p)
		r.take(frozen, fresh)
	})
	if err != nil {
		podsUnread = "its Pods could not be read: " + report.Why(err)
	}
	r.values(inner, podsUnread)
	r.template(inner, o)
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	r.summary()
	r.Obs.Findings = append(r.Obs.Findings, c.Warnings()...)
	r.Obs.Facts = r.facts.Rest("the object does not say")
	return r.Obs, nil
}

// take keeps of uses that differ by their Pod alone the one that started first:
// it has what is oldest.
func (r *rotationRun) take(frozen []rotationUse, fresh []rotationSource) {
	for _, u := range frozen {
		at := slices.IndexFunc(r.uses, func(v rotationUse) bool {
			return v.rotationSource == u.rotationSource && v.key == u.key && v.container == u.container && v.how == u.how
		})
		switch {
		case at < 0:
			r.uses = append(r.uses, u)
		case !u.started.IsZero() && (r.uses[at].started.IsZero() || u.started.Before(r.uses[at].started)):
			r.uses[at] = u
		}
	}
	for _, s := range fresh {
		if !slices.Contains(r.fresh, s) {
			r.fresh = append(r.fresh, s)
		}
	}
}

func (r *rotationRun) summary() {
	changed := r.facts.Got("changed_after_start")
	var say []string
	switch {
	case !changed.Known():
		say = append(say, "whether it took values that changed since is not known")
	case len(changed.Strings()) > 0:
		say = append(say, fmt.Sprintf("%d values that it took when it started were written since", len(changed.Strings())))
	default:
		say = append(say, "nothing that it took when it started was written since")
	}
	if v := r.facts.Got("template_changed"); v.Known() && v.Bool() {
		say = append(say, "its newest revision is another template")
	} else if v.Known() {
		say = append(say, "its template is the one from before")
	}
	r.Obs.Summary = fmt.Sprintf("%s: %s.", r.t, strings.Join(say, "; "))
}
