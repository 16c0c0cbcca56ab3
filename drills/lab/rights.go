package lab

import (
	"context"
	"net/http"
)

const (
	rbac       = "/apis/rbac.authorization.k8s.io/v1"
	bindings   = rbac + "/clusterrolebindings"
	selfReview = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	// readerRole lets an account see which cluster this is; one for all namespaces.
	readerRole = "handrail-lab-reader"
)

func core(ns, rest string) string   { return "/api/v1/namespaces/" + ns + "/" + rest }
func readers(ns string) string      { return "handrail-lab-" + ns }
func named(name string) object      { return object{"name": name} }
func list(words ...string) []string { return words }

// grant creates the namespace, its accounts and what they may do. Robot and operator have the same rights: which of
// them wrote is for the audit log to say, and an operator on call has them too.
func (l *Lab) grant(ctx context.Context, ns string) error {
	write := list("get", "list", "watch", "create", "update", "patch", "delete")
	look := list("get", "list", "watch")
	accounts := []object{
		{"kind": "ServiceAccount", "name": "robot", "namespace": ns},
		{"kind": "ServiceAccount", "name": "operator", "namespace": ns},
	}
	for _, made := range []struct {
		path   string
		body   object
		shared bool // the same for all namespaces, perhaps there already
	}{
		{path: "/api/v1/namespaces", body: object{"metadata": object{"name": ns, "labels": object{"handrail-lab": "namespace"}}}},
		{path: core(ns, "serviceaccounts"), body: object{"metadata": named("robot")}},
		{path: core(ns, "serviceaccounts"), body: object{"metadata": named("operator")}},
		{path: rbac + "/clusterroles", shared: true, body: object{"metadata": named(readerRole), "rules": []object{
			{"apiGroups": list(""), "resources": list("namespaces"), "verbs": list("get", "list")},
		}}},
		{path: bindings, body: object{"metadata": named(readers(ns)), "subjects": accounts,
			"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": readerRole}}},
		{path: rbac + "/namespaces/" + ns + "/roles", body: object{"metadata": named("drill"), "rules": []object{
			{"apiGroups": list(""), "resources": list("secrets", "configmaps", "pods", "services", "serviceaccounts", "persistentvolumeclaims"), "verbs": write},
			{"apiGroups": list(""), "resources": list("events", "pods/log"), "verbs": look},
			{"apiGroups": list("events.k8s.io"), "resources": list("events"), "verbs": look},
			{"apiGroups": list("coordination.k8s.io"), "resources": list("leases"), "verbs": write},
			{"apiGroups": list("batch"), "resources": list("jobs", "jobs/status", "cronjobs"), "verbs": write},
			{"apiGroups": list("apps"), "resources": list("deployments", "replicasets", "statefulsets", "daemonsets"), "verbs": write},
			{"apiGroups": list("*"), "resources": list("*"), "verbs": look},
		}}},
		{path: rbac + "/namespaces/" + ns + "/rolebindings", body: object{"metadata": named("drill"), "subjects": accounts,
			"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "drill"}}},
	} {
		err := l.client.do(ctx, http.MethodPost, made.path, made.body, nil)
		if err != nil && !(made.shared && hasCode(err, http.StatusConflict)) {
			return err
		}
	}
	return nil
}
