// Package permit says what each kind of step asks of a cluster, in the terms of RBAC, and
// makes the roles of many steps.
//
// A right is declared for the world in which the step asks most: where a controller is not
// installed, where an object has no parent, it asks less, and the right says what it is for.
// Discovery, the reviews of oneself and the version are granted to every account by the
// roles that a cluster comes with, and are not declared.
package permit

import (
	"slices"
	"strings"

	"handrail/steps"
)

// Declare gives each kind its rights.
func Declare(kinds []steps.Kind) []steps.Kind {
	all := table()
	for i, k := range kinds {
		if of := all[k.Name]; of != nil {
			kinds[i].Rights = func(in steps.Params) []steps.Right {
				list := append(asWho(), of(in)...)
				if k.Changes != nil {
					list = append(list, gate(in)...)
				}
				return list
			}
		}
	}
	return kinds
}

// Asks are the kinds of the table, for the test that every kind is in it.
func Asks() []string {
	var out []string
	for name := range table() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// asWho is what tells which cluster it is: every step asks that first.
func asWho() []steps.Right {
	return []steps.Right{{Resource: "namespaces", Verbs: []string{"get"}, Name: "kube-system", Wide: true}}
}

// Named are the resources that a fact of a kind may name, where they are few.
func Named(kind, fact string) []string {
	if kind == "kube/webhook" && fact == "resource" {
		return slices.Clone(hooks)
	}
	return nil
}

type rule func(steps.Params) []steps.Right

// here asks in the namespace of the step, wide across namespaces or of the cluster. Names
// are as kubectl has them: deployments.apps, pods/log.
func here(verbs string, names ...string) []steps.Right { return rightsTo(verbs, false, names) }
func wide(verbs string, names ...string) []steps.Right { return rightsTo(verbs, true, names) }

func rightsTo(verbs string, wide bool, names []string) []steps.Right {
	var out []steps.Right
	for _, name := range names {
		plural, group, _ := strings.Cut(name, ".")
		if base, sub, ok := strings.Cut(group, "/"); ok {
			group, plural = base, plural+"/"+sub
		}
		out = append(out, steps.Right{Group: group, Resource: plural, Verbs: strings.Split(verbs, ","), Wide: wide})
	}
	return out
}

// when marks rights that not every run asks for.
func when(what string, list []steps.Right) []steps.Right {
	for i := range list {
		list[i].For = what
	}
	return list
}

// every is the list of every kind in the namespace of the step.
func every() []steps.Right {
	return []steps.Right{{Group: "*", Resource: "*", Verbs: []string{"list"}}}
}

// sought asks of the resource that the step names. Only the run tells what a fact names.
func sought(in steps.Params, verbs string, sub ...string) []steps.Right {
	right := steps.Right{Verbs: strings.Split(verbs, ",")}
	r, _, ok := Find(in.Text("resource"))
	if !ok {
		return []steps.Right{right}
	}
	right.Group, right.Resource, right.Wide = r.Group, r.Plural, !r.Namespaced
	if len(sub) > 0 {
		right.Resource += "/" + sub[0]
	}
	return []steps.Right{right}
}

// everywhere asks of the resource that the step names across namespaces.
func everywhere(in steps.Params, verbs string) []steps.Right {
	list := sought(in, verbs)
	list[0].Wide = true
	return list
}

const (
	apps      = ".apps"
	batch     = ".batch"
	admission = ".admissionregistration.k8s.io"
	roles     = ".rbac.authorization.k8s.io"
)

var (
	workloads = []string{"deployments" + apps, "statefulsets" + apps, "daemonsets" + apps}
	// foreign are policies of network plugins and of administrators.
	foreign     = []string{"ciliumnetworkpolicies.cilium.io", "networkpolicies.crd.projectcalico.org", "networkpolicies.projectcalico.org", "networkpolicies.crd.antrea.io", "egressfirewalls.k8s.ovn.org"}
	foreignWide = []string{"ciliumclusterwidenetworkpolicies.cilium.io", "globalnetworkpolicies.crd.projectcalico.org", "globalnetworkpolicies.projectcalico.org",
		"adminnetworkpolicies.policy.networking.k8s.io", "baselineadminnetworkpolicies.policy.networking.k8s.io", "clusternetworkpolicies.policy.networking.k8s.io", "clusternetworkpolicies.crd.antrea.io"}
	hooks    = []string{"validatingwebhookconfigurations" + admission, "mutatingwebhookconfigurations" + admission}
	policies = []string{"validatingadmissionpolicies" + admission, "validatingadmissionpolicybindings" + admission, "mutatingadmissionpolicies" + admission, "mutatingadmissionpolicybindings" + admission}
)

// family reads a workload and its Pods; those of a Deployment belong to its ReplicaSets, and
// a Pod is all of itself.
func family(in steps.Params) []steps.Right {
	out := sought(in, "get")
	r, _, known := Find(in.Text("resource"))
	if !known || r.String() != "pods" {
		out = slices.Concat(out, here("list", "pods"))
	}
	if !known || r.String() == "deployments"+apps {
		out = slices.Concat(out, here("list", "replicasets"+apps))
	}
	return out
}

// owners are those who may undo a change: parents by UID, Argo CD, Flux.
func owners(in steps.Params) []steps.Right {
	var parents []steps.Right
	switch r, _, _ := Find(in.Text("resource")); r.String() {
	case "jobs" + batch:
		parents = here("get", "cronjobs"+batch)
	case "replicasets" + apps:
		parents = here("get", "deployments"+apps)
	case "pods":
		parents = here("get", "replicasets"+apps, "deployments"+apps, "statefulsets"+apps, "daemonsets"+apps, "jobs"+batch, "cronjobs"+batch)
	}
	return slices.Concat(sought(in, "get"), when("a parent", parents),
		when("Argo CD", wide("get,list", "applications.argoproj.io", "configmaps")),
		when("Argo CD", wide("get", "applicationsets.argoproj.io")),
		when("Flux", wide("get", "kustomizations.kustomize.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io")))
}

// families are resources that are taken for one another on a call.
var families = [][]string{
	{"deployments" + apps, "statefulsets" + apps, "daemonsets" + apps},
	{"jobs" + batch, "cronjobs" + batch},
	{"roles" + roles, "rolebindings" + roles},
	{"clusterroles" + roles, "clusterrolebindings" + roles},
	hooks,
}

// alike looks for what could be mistaken for the object, here and elsewhere.
func alike(in steps.Params) []steps.Right {
	out := slices.Concat(sought(in, "get,list"), everywhere(in, "list"))
	r, _, ok := Find(in.Text("resource"))
	for _, of := range families {
		if !ok || !slices.Contains(of, r.String()) {
			continue
		}
		for _, other := range of {
			if other != r.String() {
				out = append(out, rightsTo("list", !r.Namespaced, []string{other})...)
			}
		}
	}
	return out
}

// keepers looks for the controller of a finalizer, and whether it is alive.
func keepers() []steps.Right {
	return slices.Concat(
		wide("list", append([]string{"cronjobs" + batch, "pods", "leases.coordination.k8s.io"}, workloads...)...),
		when("the controller that is named", slices.Concat(wide("get", workloads...), wide("list", "horizontalpodautoscalers.autoscaling"))),
		when("a finalizer of a custom resource", slices.Concat(wide("get", "services"), bound(), wide("create", "subjectaccessreviews.authorization.k8s.io"))))
}

// inputs are what a field may be made from, looked for where it was rewritten a moment ago.
func inputs() []steps.Right { return when("a field that is rewritten", here("list", "configmaps")) }

// barred looks for what keeps any deletion from going on: dead API services, and webhooks.
func barred() []steps.Right { return wide("list", "apiservices.apiregistration.k8s.io") }

// bound are the roles and bindings that reach into the namespace.
func bound() []steps.Right {
	return slices.Concat(wide("list", "clusterroles"+roles, "clusterrolebindings"+roles), here("list", "roles"+roles, "rolebindings"+roles))
}

// offspring are the objects that a deletion takes along: every kind beside the object. Which
// kinds without a namespace a cluster has besides the known ones only the run tells.
func offspring(in steps.Params) []steps.Right {
	r, known, _ := Find(in.Text("resource"))
	if !known || r.Namespaced {
		return every()
	}
	out := []steps.Right{{Verbs: []string{"list"}, Wide: true}}
	for _, other := range Known() {
		if !other.Namespaced {
			out = append(out, wide("list", other.String())...)
		}
	}
	return out
}

// gate is what every gate reads before it asks for its phrase.
func gate(in steps.Params) []steps.Right {
	list := slices.Concat(owners(in), alike(in))
	if r, _, ok := Find(in.Text("resource")); !ok || r.Namespaced {
		list = append(list, wide("get", "namespaces")...) // its markers protect what is in it
	}
	return list
}

// custom are the kinds of a group that a controller brings.
func custom(what string, groups ...string) []steps.Right {
	var out []steps.Right
	for _, g := range groups {
		out = append(out, steps.Right{Group: g, Resource: "*", Verbs: []string{"list"}, Wide: true, For: what})
	}
	return out
}

// named asks of each object that a list names; those of a file only the run tells.
func named(in steps.Params) []steps.Right {
	var out []steps.Right
	for _, word := range strings.FieldsFunc(in.Text("objects"), func(r rune) bool { return r == ' ' || r == ',' }) {
		resource, _, _ := strings.Cut(word, "/")
		out = append(out, sought(steps.Params{"resource": steps.StringOf(resource)}, "get")...)
	}
	if in.Text("objects") == "" || in.Text("changes") != "" {
		out = append(out, steps.Right{Verbs: []string{"get"}})
	}
	return out
}

func strip(in steps.Params) []steps.Right {
	return slices.Concat(sought(in, "patch"), keepers(), here("list", "pods", "leases.coordination.k8s.io"))
}
