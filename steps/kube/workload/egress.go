package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/egress"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
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

// Probe implements steps.Prober.
func (p egressProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, t, err := reachWorkload(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r := &egressRun{c: c, facts: steps.NewFacts(egressFacts())}
	r.Obs.Command = c.Kubectl(t.Namespace, "get", "networkpolicies", "-o", "yaml")
	o, err := c.Get(inner, t.Resource, t.Namespace, t.Name)
	if errors.Is(err, cluster.ErrAbsent) {
		r.Obs.Summary = fmt.Sprintf("%s is not there.", t)
		r.Obs.Facts = r.facts.Rest(report.NotThere)
		return r.Obs, nil
	}
	if err == nil {
		err = r.source(inner, t, o)
	}
	if err == nil {
		r.policies, err = egressPolicies(inner, c, t.Namespace)
	}
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	if gap := egressKeep(out, r.policies); gap != "" {
		r.Gap("%s", gap)
	}
	r.facts.Set("policies", steps.StringsOf(egress.Selecting(r.policies, r.from, "Egress")))
	r.foreign(inner, t.Namespace)
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
	r.Gap("this is what policies let through, computed: no status and no event says what a network drops")
	r.Obs.Findings = append(r.Obs.Findings, c.Warnings()...)
	r.Obs.Facts = r.facts.Rest("not read")
	return r.Obs, nil
}

// source is the Pod from which to look: one that is there, else the one that the
// template describes.
func (r *egressRun) source(ctx context.Context, t cluster.Target, o cluster.Object) error {
	var pick podPick
	err := workloadPods(ctx, r.c, t, o, &workloadFamily{}, pick.see)
	if err != nil && !cluster.IsForbidden(err) {
		return err
	}
	r.from = egress.Place{Kind: egress.Pod, Namespace: t.Namespace, NamespaceLabels: egressSpace(ctx, r.c, t.Namespace)}
	if pick.found {
		r.spec, r.from.Labels.Known, r.from.Address = pick.pod.Spec, pick.pod.Metadata.Labels, pick.pod.Status.PodIP
		return nil
	}
	w, err := podstate.ParseWorkload(o.Raw)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", t, err)
	}
	// Controllers add labels of their own to the Pods that they make.
	r.spec, r.from.Labels = w.Spec.Template.Spec, egress.Labels{Known: w.Spec.Template.Metadata.Labels, Partial: true}
	r.Gap("it has no Pod that can be seen; its template was taken instead")
	return nil
}

// egressForeign are the kinds by which network plugins and admins add to what
// NetworkPolicies say, or override it.
var egressForeign = []string{"ciliumnetworkpolicies.cilium.io", "ciliumclusterwidenetworkpolicies.cilium.io",
	"networkpolicies.crd.projectcalico.org", "globalnetworkpolicies.crd.projectcalico.org", "networkpolicies.projectcalico.org", "globalnetworkpolicies.projectcalico.org",
	"adminnetworkpolicies.policy.networking.k8s.io", "baselineadminnetworkpolicies.policy.networking.k8s.io", "clusternetworkpolicies.policy.networking.k8s.io",
	"networkpolicies.crd.antrea.io", "clusternetworkpolicies.crd.antrea.io", "egressfirewalls.k8s.ovn.org"}

// foreign looks for policies that are not NetworkPolicies.
func (r *egressRun) foreign(ctx context.Context, namespace string) {
	var served []cluster.Resource
	for _, namespaced := range []bool{true, false} {
		all, trouble := r.c.Listable(namespaced)
		if trouble != "" {
			r.Gap("not every kind of the cluster is known: %s", trouble)
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
		err := cluster.EachAs(ctx, r.c, k.Path(namespace, ""), cluster.AsMetaList, nil, func(json.RawMessage) { n++ })
		switch {
		case err != nil:
			r.why = fmt.Sprintf("%s could not be read, and count too: %s", k, report.Why(err))
			r.facts.Unknown(r.why, "foreign")
			r.Gap("%s", r.why)
			return
		case n > 0:
			names = append(names, k.String())
		}
	}
	r.facts.Set("foreign", steps.StringsOf(names))
	if len(names) > 0 {
		r.why = "there are " + strings.Join(names, ", ") + ", which count too and are not computed"
		r.Obs.Say(steps.Warning, "Besides NetworkPolicies %s.", r.why)
	}
}

func (r *egressRun) summary(t cluster.Target, to string) {
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
	r.Obs.Summary = s + "."
	if word("dns_udp") == egressBlocked {
		r.Obs.Say(steps.Warning, "Without DNS every name fails, whatever else is open: logs then say that a name cannot be resolved, or time out. Allow DNS in a rule of its own; do not delete the policy.")
	}
}
