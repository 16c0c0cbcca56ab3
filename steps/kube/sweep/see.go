package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"handrail/steps/cluster"
	"handrail/steps/kube/allowlist"
	"handrail/steps/kube/persist"
	"handrail/steps/kube/report"
)

func sweptThing(category string, r cluster.Resource, o cluster.Object, matters any) allowlist.Thing {
	return allowlist.Thing{Category: category, Namespace: o.GetNamespace(), Name: strings.ToLower(r.Kind) + "/" + o.GetName(), Digest: persist.Sum(matters)}
}

// hook notes a webhook configuration.
func (w *collector) hook(r cluster.Resource, o cluster.Object) {
	var said []string
	var spaces []map[string]any
	for _, h := range persist.Maps(o.Object, "webhooks") {
		client := persist.Part(h, "clientConfig")
		to := persist.Text(client, "url")
		if s := persist.Part(client, "service"); s != nil {
			to = "service " + persist.Text(s, "namespace") + "/" + persist.Text(s, "name")
		}
		var on []string
		for _, rule := range persist.Maps(h, "rules") {
			on = append(on, strings.Join(persist.Texts(rule, "operations"), "|")+" "+strings.Join(persist.Texts(rule, "resources"), ","))
		}
		said = append(said, fmt.Sprintf("%s (%s) sends %s to %s", persist.Text(h, "name"), persist.Text(h, "failurePolicy"), strings.Join(on, "; "), to))
		if w.beyondNamespaces(persist.Maps(h, "rules")) {
			spaces = append(spaces, nil)
		} else {
			spaces = append(spaces, persist.Part(h, "namespaceSelector"))
		}
	}
	w.found = append(w.found, found{Thing: sweptThing(allowlist.Webhooks, r, o, persist.Hooks(o.Unstructured)),
		what: persist.Line(strings.Join(said, "; "), 500), reach: w.selects(spaces...)})
}

// beyondNamespaces reports whether rules match objects that have no namespace:
// no namespace selector keeps those out.
func (w *collector) beyondNamespaces(rules []map[string]any) bool {
	for _, rule := range rules {
		if persist.Text(rule, "scope") == "Namespaced" {
			continue
		}
		for _, plural := range persist.Texts(rule, "resources") {
			plural, _, _ = strings.Cut(plural, "/")
			if plural == "*" || slices.ContainsFunc(w.served.All, func(r cluster.Resource) bool { return !r.Namespaced && r.Plural == plural }) {
				return true
			}
		}
	}
	return len(rules) == 0
}

// policy notes an admission policy or a binding of one.
func (w *collector) policy(r cluster.Resource, o cluster.Object) {
	spec := persist.Part(o.Object, "spec")
	match := persist.Part(spec, "matchConstraints")
	if match == nil {
		match = persist.Part(spec, "matchResources")
	}
	what := strings.ToLower(r.Kind)
	if name := persist.Text(spec, "policyName"); name != "" {
		what += " of " + name
	}
	f := found{Thing: sweptThing(allowlist.Policies, r, o, persist.Body(o.Unstructured)), what: persist.Line(what, 300)}
	switch {
	case r.Namespaced:
		f.reach = w.within(o.GetNamespace())
	case match != nil && !w.beyondNamespaces(persist.Maps(match, "resourceRules")):
		f.reach = w.selects(persist.Part(match, "namespaceSelector"))
	}
	w.found = append(w.found, f)
}

// aggregated notes an API service that another server than the API server serves.
func (w *collector) aggregated(r cluster.Resource, o cluster.Object) {
	spec := maps.Clone(persist.Part(o.Object, "spec"))
	service := persist.Part(spec, "service")
	if service == nil {
		return
	}
	delete(spec, "caBundle")
	w.found = append(w.found, found{Thing: sweptThing(allowlist.APIServices, r, o, spec),
		what: persist.Line("served by service "+persist.Text(service, "namespace")+"/"+persist.Text(service, "name"), 300)})
}

// networkPolicies plans those of Kubernetes and of the network plugins.
func (w *collector) networkPolicies() {
	see := func(r cluster.Resource, o cluster.Object) {
		w.found = append(w.found, found{Thing: sweptThing(allowlist.NetworkPolicies, r, o, persist.Body(o.Unstructured)), reach: w.within(o.GetNamespace()),
			what: persist.Line("for "+strings.Join(persist.Texts(persist.Part(o.Object, "spec"), "policyTypes"), " and "), 100)})
	}
	category := []string{allowlist.NetworkPolicies}
	w.list("networkpolicies.networking.k8s.io", false, category, see)
	for _, plural := range []string{"ciliumnetworkpolicies.cilium.io", "ciliumclusterwidenetworkpolicies.cilium.io", "networkpolicies.crd.projectcalico.org",
		"globalnetworkpolicies.crd.projectcalico.org", "adminnetworkpolicies.policy.networking.k8s.io", "baselineadminnetworkpolicies.policy.networking.k8s.io",
		"clusternetworkpolicies.policy.networking.k8s.io"} {
		w.list(plural, false, category, see)
	}
}

// syncs notes what reconciles from Git or a registry.
func (w *collector) syncs(r cluster.Resource, o cluster.Object) {
	spec := persist.Part(o.Object, "spec")
	from := ""
	for _, at := range [][]string{{"source"}, {"sourceRef"}, {"chart", "spec"}, {"git"}} {
		if p := persist.Part(spec, at...); p != nil {
			from = strings.TrimSpace(persist.Text(p, "repoURL") + persist.Text(p, "name") + persist.Text(p, "chart") + persist.Text(p, "repo") + " " + persist.Text(p, "path"))
		}
	}
	if url := persist.Text(spec, "url") + persist.Text(spec, "repo"); url != "" {
		from = url
	}
	what := "from " + report.OrNothing(from)
	switch field := persist.Pauses(r.Group); {
	case spec[field] != true:
	case field == "paused":
		what += ", paused"
	default:
		what += ", suspended"
	}
	w.found = append(w.found, found{Thing: sweptThing(allowlist.GitOps, r, o, persist.Sync(r.Group, o.Unstructured)), what: persist.Line(what, 300)})
}

// within is the reach of what can touch one namespace alone.
func (w *collector) within(namespace string) func() bool {
	if namespace == "" || len(w.asked()) == 0 {
		return nil
	}
	return func() bool { return slices.Contains(w.asked(), namespace) }
}

// asked are the namespaces that the sweep is about, none for all.
func (w *collector) asked() []string { return w.in["reach"].Strings() }

// selects is the reach of selectors of namespaces, of which one may be none.
func (w *collector) selects(selectors ...map[string]any) func() bool {
	return func() bool {
		for _, raw := range selectors {
			if raw == nil {
				return true
			}
			var sel metav1.LabelSelector
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &sel); err != nil {
				return true
			}
			s, err := metav1.LabelSelectorAsSelector(&sel)
			if err != nil {
				return true
			}
			for _, ns := range w.asked() {
				has, known := w.spaces[ns]
				if !known || s.Matches(labels.Set(has)) {
					return true
				}
			}
		}
		return len(selectors) == 0
	}
}
