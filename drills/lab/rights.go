package lab

import (
	"context"
	"net/http"
	"time"
)

const (
	rbac       = "/apis/rbac.authorization.k8s.io/v1"
	bindings   = rbac + "/clusterrolebindings"
	selfReview = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	// readerRole lets an account see which cluster this is; one for all namespaces.
	readerRole = "handrail-lab-reader"
	// inForceWithin is for a machine under load, where the API server learns of a
	// right minutes after it was stored; seconds otherwise.
	inForceWithin = 5 * time.Minute
)

func core(ns, rest string) string   { return "/api/v1/namespaces/" + ns + "/" + rest }
func readers(ns string) string      { return "handrail-lab-" + ns }
func named(name string) object      { return object{"name": name} }
func list(words ...string) []string { return words }

// grant creates the namespace, its accounts and what they may do. Both see everything there, as an operator on call does,
// and write the same objects: which of them wrote is for the audit log to say. Only robot can say what a Pod or a
// Deployment is like: in a cluster without nodes a controller must, and no operator does.
func (l *Lab) grant(ctx context.Context, ns string) error {
	write := list("create", "update", "patch", "delete")
	look := list("get", "list", "watch")
	account := func(name string) object { return object{"kind": "ServiceAccount", "name": name, "namespace": ns} }
	both := []object{account("robot"), account("operator")}
	bind := func(name, kind, role string, subjects []object) object {
		return object{"metadata": named(name), "subjects": subjects,
			"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}}
	}
	roles, binds := rbac+"/namespaces/"+ns+"/roles", rbac+"/namespaces/"+ns+"/rolebindings"
	reader := object{"metadata": named(readerRole), "rules": []object{
		{"apiGroups": list(""), "resources": list("namespaces"), "verbs": list("get", "list")},
		{"apiGroups": list("apiregistration.k8s.io"), "resources": list("apiservices"), "verbs": list("get", "list")},
		{"apiGroups": list("apiextensions.k8s.io"), "resources": list("customresourcedefinitions"), "verbs": list("get", "list")},
	}}
	for _, made := range []struct {
		path   string
		body   object
		shared string // where to put it when it is there already, with the rights of an older program
	}{
		{path: "/api/v1/namespaces", body: object{"metadata": object{"name": ns, "labels": object{"handrail-lab": "namespace"}}}},
		{path: core(ns, "serviceaccounts"), body: object{"metadata": named("robot")}},
		{path: core(ns, "serviceaccounts"), body: object{"metadata": named("operator")}},
		{path: rbac + "/clusterroles", body: reader, shared: rbac + "/clusterroles/" + readerRole},
		{path: bindings, body: bind(readers(ns), "ClusterRole", readerRole, both)},
		{path: roles, body: object{"metadata": named("drill"), "rules": []object{
			{"apiGroups": list("*"), "resources": list("*"), "verbs": look},
			{"apiGroups": list(""), "resources": list("secrets", "configmaps", "pods", "services", "serviceaccounts", "persistentvolumeclaims"), "verbs": write},
			{"apiGroups": list("coordination.k8s.io"), "resources": list("leases"), "verbs": write},
			{"apiGroups": list("batch"), "resources": list("jobs", "jobs/status", "cronjobs"), "verbs": write},
			{"apiGroups": list("apps"), "resources": list("deployments", "replicasets", "statefulsets", "daemonsets"), "verbs": write},
		}}},
		{path: binds, body: bind("drill", "Role", "drill", both)},
		{path: roles, body: object{"metadata": named("robot"), "rules": []object{
			{"apiGroups": list(""), "resources": list("pods/status"), "verbs": list("patch")},
			{"apiGroups": list("apps"), "resources": list("deployments/status"), "verbs": list("patch")},
		}}},
		{path: binds, body: bind("robot", "Role", "robot", both[:1])},
	} {
		err := l.client.do(ctx, http.MethodPost, made.path, made.body, nil)
		if made.shared != "" && hasCode(err, http.StatusConflict) {
			err = l.client.do(ctx, http.MethodPut, made.shared, made.body, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// needs are the rights that must be in force before an account is handed out: one of each rule that may come last.
func needs(ns, account string) []object {
	out := []object{
		{"namespace": ns, "verb": "create", "resource": "secrets"},
		{"namespace": ns, "verb": "list", "group": "policy", "resource": "poddisruptionbudgets"},
		{"name": "kube-system", "verb": "get", "resource": "namespaces"},
		{"verb": "list", "group": "apiregistration.k8s.io", "resource": "apiservices"},
	}
	if account == "robot" {
		out = append(out, object{"namespace": ns, "verb": "patch", "resource": "pods", "subresource": "status"})
	}
	return out
}
