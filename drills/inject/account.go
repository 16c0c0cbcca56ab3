package inject

import (
	"context"

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
	Name    string   `key:"name,required" as:"id"`
	Writes  []string `key:"writes" each:"writable"`
	Binds   []string `key:"binds" each:"id" of:"a role"`
	Surveys bool     `key:"surveys"`
}

// apply makes the account where it is none of the lab's own, and waits until its
// rights are in force.
func (a allow) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("account %s", a.Name)
	const rbac = "rbac.authorization.k8s.io"
	var inside, wide []lab.Rule
	for _, plural := range a.Writes {
		inside = append(inside, lab.Rule{Group: Writable()[plural], Resources: []string{plural},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}})
	}
	if len(a.Binds) > 0 {
		inside = append(inside, lab.Rule{Group: rbac, Resources: []string{"roles"}, Names: a.Binds, Verbs: []string{"bind"}})
	}
	if a.Surveys {
		wide = survey()
	}
	return st.Admit(ctx, a.Name, inside, wide)
}

// survey is what a search for writers sees in the whole cluster: the
// kinds that write or let write, and only to look at. Secrets are not among them,
// whose metadata cannot be listed without a right to their values. Groups are whole,
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
