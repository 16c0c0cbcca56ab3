package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/egress"
	"handrail/steps/kube/podstate"
)

const (
	egressOpen    = "open"
	egressBlocked = "blocked"
	// egressTarget is HOST:PORT, service/NAME or service/NAMESPACE/NAME, the
	// latter two with :PORT where the Service has several.
	egressTarget = `service/[a-z0-9][a-z0-9.-]*(/[a-z0-9][a-z0-9.-]*)?(:[a-z0-9-]+)?|[A-Za-z0-9.-]+:[0-9]+|\[[0-9a-fA-F:.]+\]:[0-9]+`
	egressDNS    = "kube-system/k8s-app=kube-dns"
)

func egressFacts() []steps.Field {
	of := []string{egressOpen, egressBlocked}
	return []steps.Field{
		{Name: "dns_udp", Type: steps.Enum, Values: of, Doc: "whether policies let it ask the DNS of the cluster over UDP"},
		{Name: "dns_tcp", Type: steps.Enum, Values: of, Doc: "the same over TCP, which long answers need"},
		{Name: "api_server", Type: steps.Enum, Values: of, Doc: "whether they let it reach the API server"},
		{Name: "target", Type: steps.Enum, Values: of, Doc: "whether they let it reach what was named, and its own policies let it in; blocked where one of several backends is"},
		{Name: "policies", Type: steps.Strings, Doc: "the NetworkPolicies that select it for egress: without one everything is open"},
		{Name: "peer_policies", Type: steps.Strings, Doc: "those that select what was named for ingress"},
		{Name: "foreign", Type: steps.Strings, Doc: "kinds of policies of the network plugin that are in use: they count too, and are not computed"},
	}
}

type egressProbe struct{ env steps.Env }

// egressRun is one run of the probe.
type egressRun struct {
	workloadSaying
	c        *client
	facts    steps.Facts
	from     egress.Place
	spec     podstate.PodSpec
	policies []egress.Policy
	why      string // why nothing can be computed
}

// Probe implements steps.Prober.
func (p egressProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := workloadDeadline(ctx)
	defer cancel()
	c, t, err := reach(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := workloadTarget(t); err != nil {
		return steps.Observation{}, err
	}
	r := &egressRun{c: c, facts: steps.NewFacts(egressFacts())}
	r.obs.Command = c.kubectl(t.namespace, "get", "networkpolicies", "-o", "yaml")
	o, err := c.get(inner, t.resource, t.namespace, t.name)
	if errors.Is(err, errAbsent) {
		r.obs.Summary = fmt.Sprintf("%s is not there.", t)
		r.obs.Facts = r.facts.Rest(notThere)
		return r.obs, nil
	}
	if err == nil {
		err = r.source(inner, t, o)
	}
	if err == nil {
		r.policies, err = egressPolicies(inner, c, t.namespace)
	}
	if err != nil {
		return steps.Observation{}, cmpErr(turned(), err)
	}
	if gap := egressKeep(out, r.policies); gap != "" {
		r.gap("%s", gap)
	}
	r.facts.Set("policies", steps.StringsOf(egress.Selecting(r.policies, r.from, "Egress")))
	r.foreign(inner, t.namespace)
	if r.spec.HostNetwork {
		r.why = "it runs in the network of its node, to which NetworkPolicies do not apply in a way that can be told"
	}
	r.name(inner, in.Text("dns"))
	r.server(inner)
	r.target(inner, in.Text("to"))
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	r.summary(t, in.Text("to"))
	r.gap("this is what policies let through, computed: no status and no event says what a network drops")
	r.obs.Findings = append(r.obs.Findings, c.warnings()...)
	r.obs.Facts = r.facts.Rest("not read")
	return r.obs, nil
}

// source is the Pod from which to look: one that is there, else the one that the
// template describes.
func (r *egressRun) source(ctx context.Context, t target, o object) error {
	var pick workloadPick
	err := workloadPods(ctx, r.c, t, o, &workloadFamily{}, pick.see)
	if err != nil && !isForbidden(err) {
		return err
	}
	r.from = egress.Place{Kind: egress.Pod, Namespace: t.namespace, NamespaceLabels: egressSpace(ctx, r.c, t.namespace)}
	if pick.found {
		r.spec, r.from.Labels.Known, r.from.Address = pick.pod.Spec, pick.pod.Metadata.Labels, pick.pod.Status.PodIP
		return nil
	}
	w, err := podstate.ParseWorkload(o.raw)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", t, err)
	}
	// Controllers add labels of their own to the Pods that they make.
	r.spec, r.from.Labels = w.Spec.Template.Spec, egress.Labels{Known: w.Spec.Template.Metadata.Labels, Partial: true}
	r.gap("it has no Pod that can be seen; its template was taken instead")
	return nil
}

// egressSpace is what is known of the labels of a namespace; the one with its
// name is set by the server.
func egressSpace(ctx context.Context, c *client, name string) egress.Labels {
	l := egress.Labels{Known: map[string]string{"kubernetes.io/metadata.name": name}, Partial: true}
	ns, err := c.get(ctx, resource{version: "v1", plural: "namespaces", kind: "Namespace"}, "", name)
	if err == nil {
		return egress.Labels{Known: ns.GetLabels()}
	}
	return l
}

func egressPolicies(ctx context.Context, c *client, namespace string) ([]egress.Policy, error) {
	r := resource{group: "networking.k8s.io", version: "v1", plural: "networkpolicies", kind: "NetworkPolicy", namespaced: true}
	var out []egress.Policy
	var bad error
	err := workloadSweep(ctx, c, r.path(namespace, ""), nil, func(raw json.RawMessage) {
		p, err := egress.Parse(raw)
		if err != nil {
			bad = fmt.Errorf("%s: %w", r.label(namespace, p.Metadata.Name), err)
		}
		out = append(out, p)
	})
	return out, cmpErr(bad, err)
}

// egressForeign are the kinds by which network plugins and admins add to what
// NetworkPolicies say, or override it.
var egressForeign = []string{"ciliumnetworkpolicies.cilium.io", "ciliumclusterwidenetworkpolicies.cilium.io",
	"networkpolicies.crd.projectcalico.org", "globalnetworkpolicies.crd.projectcalico.org", "networkpolicies.projectcalico.org", "globalnetworkpolicies.projectcalico.org",
	"adminnetworkpolicies.policy.networking.k8s.io", "baselineadminnetworkpolicies.policy.networking.k8s.io", "clusternetworkpolicies.policy.networking.k8s.io",
	"networkpolicies.crd.antrea.io", "clusternetworkpolicies.crd.antrea.io", "egressfirewalls.k8s.ovn.org"}

// foreign looks for policies that are not NetworkPolicies.
func (r *egressRun) foreign(ctx context.Context, namespace string) {
	var served []resource
	for _, namespaced := range []bool{true, false} {
		all, trouble := r.c.listable(namespaced)
		if trouble != "" {
			r.gap("not every kind of the cluster is known: %s", trouble)
		}
		for _, k := range all {
			if slices.Contains(egressForeign, k.String()) {
				served = append(served, k)
			}
		}
	}
	var names []string
	for _, k := range served {
		n := 0
		err := workloadPages(ctx, r.c, k.path(namespace, ""), asMetaList, nil, func(json.RawMessage) { n++ })
		switch {
		case err != nil:
			r.why = fmt.Sprintf("%s could not be read, and count too: %s", k, workloadWhy(err))
			r.facts.Unknown(r.why, "foreign")
			r.gap("%s", r.why)
			return
		case n > 0:
			names = append(names, k.String())
		}
	}
	r.facts.Set("foreign", steps.StringsOf(names))
	if len(names) > 0 {
		r.why = "there are " + strings.Join(names, ", ") + ", which count too and are not computed"
		r.say(steps.Warning, "Besides NetworkPolicies %s.", r.why)
	}
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
		r.say(steps.Critical, "Policies block %s (%s).", what, steps.Clip(strings.Join(blocked, ", "), 300))
	}
}

func (r *egressRun) out(e egressEnd) egress.Answer {
	return egress.Out(r.policies, r.from, e.place, e.port)
}

func (r *egressRun) summary(t target, to string) {
	word := func(fact string) string {
		if v := r.facts.Got(fact); v.Known() {
			return v.Text()
		}
		return "unknown"
	}
	s := fmt.Sprintf("From %s: DNS over UDP %s, over TCP %s, API server %s", t, word("dns_udp"), word("dns_tcp"), word("api_server"))
	if to != "" {
		s += fmt.Sprintf(", %s %s", to, word("target"))
	}
	if names := r.facts.Got("policies").Strings(); len(names) > 0 {
		s += " (policies " + steps.Clip(strings.Join(names, ", "), 200) + ")"
	} else {
		s += " (no policy selects it)"
	}
	r.obs.Summary = s + "."
	if word("dns_udp") == egressBlocked {
		r.say(steps.Warning, "Without DNS every name fails, whatever else is open: logs then say that a name cannot be resolved, or time out. Allow DNS in a rule of its own; do not delete the policy.")
	}
}
