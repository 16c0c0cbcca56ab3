package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/egress"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// egressRun is one run of the probe.
type egressRun struct {
	report.Report
	c        *cluster.Client
	facts    steps.Facts
	from     egress.Place
	spec     podstate.PodSpec
	policies []egress.Policy
	why      string // why nothing can be computed
}

// egressSpace is what is known of the labels of a namespace; the one with its
// name is set by the server.
func egressSpace(ctx context.Context, c *cluster.Client, name string) egress.Labels {
	l := egress.Labels{Known: map[string]string{"kubernetes.io/metadata.name": name}, Partial: true}
	ns, err := c.Get(ctx, cluster.Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"}, "", name)
	if err == nil {
		return egress.Labels{Known: ns.GetLabels()}
	}
	return l
}

func egressPolicies(ctx context.Context, c *cluster.Client, namespace string) ([]egress.Policy, error) {
	r := cluster.Resource{Group: "networking.k8s.io", Version: "v1", Plural: "networkpolicies", Kind: "NetworkPolicy", Namespaced: true}
	var out []egress.Policy
	var bad error
	err := cluster.Each(ctx, c, r.Path(namespace, ""), nil, func(raw json.RawMessage) {
		p, err := egress.Parse(raw)
		if err != nil {
			bad = fmt.Errorf("%s: %w", r.Label(namespace, p.Metadata.Name), err)
		}
		out = append(out, p)
	})
	return out, report.Cause(bad, err)
}

// egressEnd is one place and port of a target.
type egressEnd struct {
	place egress.Place
	port  egress.Port
	label string
}

// settle sets one fact: open where every end is, blocked where one is not.
func (r *egressRun) settle(fact, what string, ends []egressEnd, answer func(egressEnd) egress.Answer, unsure string) {
	if r.why != "" {
		r.facts.Unknown(r.why, fact)
		return
	}
	worst, blocked := egress.Yes, []string{}
	for _, e := range ends {
		a := answer(e)
		worst = min(worst, a)
		if a == egress.No {
			blocked = append(blocked, e.label)
		}
	}
	switch {
	case len(ends) == 0 || worst == egress.Maybe:
		r.facts.Unknown(unsure, fact)
	case worst == egress.Yes:
		r.facts.Set(fact, steps.EnumOf(egressOpen))
	default:
		r.facts.Set(fact, steps.EnumOf(egressBlocked))
		r.Obs.Say(steps.Critical, "Policies block %s (%s).", what, steps.Clip(strings.Join(blocked, ", "), 300))
	}
}

func (r *egressRun) out(e egressEnd) egress.Answer {
	return egress.Out(r.policies, r.from, e.place, e.port)
}
