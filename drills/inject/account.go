package inject

import (
	"context"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

// Writable are the resources that an account of a drill may be allowed to write,
// in its namespace and nowhere else, with their groups.
func Writable() map[string]string {
	const rbac = "rbac.authorization.k8s.io"
	return map[string]string{
		"configmaps": "", "pods": "", "services": "", "serviceaccounts": "", "resourcequotas": "", "persistentvolumeclaims": "",
		"deployments": "apps", "statefulsets": "apps",
		"jobs": "batch", "cronjobs": "batch",
		"networkpolicies": "networking.k8s.io",
		"roles":           rbac, "rolebindings": rbac,
	}
}

// PathOfObject is the path of an object of that table.
func PathOfObject(group, plural, namespace, name string) string {
	at := "/apis/" + group + "/v1"
	if group == "" {
		at = "/api/v1"
	}
	return at + "/namespaces/" + namespace + "/" + plural + "/" + name
}

// allow is the verb kube.account.
type allow struct {
	name    string
	writes  []string
	binds   []string
	surveys bool
}

func readAccount(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.account", "name", "writes", "binds", "surveys")
	a := allow{name: p.Form(p.Need(n, f, "name"), "name", IDForm), surveys: p.Flag(f["surveys"], "surveys")}
	for _, item := range p.Items(f["writes"], "writes") {
		a.writes = append(a.writes, p.writable(item))
	}
	for _, item := range p.Items(f["binds"], "binds") {
		a.binds = append(a.binds, p.Form(item, "a role", IDForm))
	}
	return a
}

func (p Parser) writable(n *yaml.Node) string {
	return p.OneOf(n, "resource", slices.Sorted(maps.Keys(Writable())))
}

// apply makes the account where it is none of the lab's own, and waits until its
// rights are in force.
func (a allow) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("account %s", a.name)
	const rbac = "rbac.authorization.k8s.io"
	var inside, wide []lab.Rule
	for _, plural := range a.writes {
		inside = append(inside, lab.Rule{Group: Writable()[plural], Resources: []string{plural},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}})
	}
	if len(a.binds) > 0 {
		inside = append(inside, lab.Rule{Group: rbac, Resources: []string{"roles"}, Names: a.binds, Verbs: []string{"bind"}})
	}
	if a.surveys {
		wide = survey()
	}
	return st.Admit(ctx, a.name, inside, wide)
}

// survey is what somebody sees who looks for writers in the whole cluster: the
// kinds that write or let write, and only to look at. Secrets are not among them,
// whose metadata nobody can list without a right to their values. Groups are whole,
// since what a definition adds to them later is part of the question.
func survey() []lab.Rule {
	look := []string{"get", "list", "watch"}
	rules := []lab.Rule{
		{Group: "", Resources: []string{"namespaces", "nodes", "pods", "replicationcontrollers", "configmaps", "services", "endpoints", "serviceaccounts",
			"persistentvolumeclaims", "persistentvolumes", "events", "resourcequotas", "limitranges"}, Verbs: look},
		{Group: "authorization.k8s.io", Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	}
	for _, group := range []string{
		"apps", "batch", "autoscaling", "policy", "networking.k8s.io", "storage.k8s.io", "discovery.k8s.io", "coordination.k8s.io",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "rbac.authorization.k8s.io",
		"kyverno.io", "policies.kyverno.io", "templates.gatekeeper.sh", "constraints.gatekeeper.sh", "mutations.gatekeeper.sh",
		"cilium.io", "crd.projectcalico.org", "policy.networking.k8s.io",
		"argoproj.io", "fleet.cattle.io", "configsync.gke.io",
		"kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "image.toolkit.fluxcd.io",
	} {
		rules = append(rules, lab.Rule{Group: group, Resources: []string{"*"}, Verbs: look})
	}
	return rules
}
