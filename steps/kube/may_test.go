package kube

import (
	"testing"

	"handrail/steps"
)

// TestMay: a role with the right, one without it, and one that is not there.
func TestMay(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	bind := func(name, role, account string) {
		w.create(w.in(rbacV1, "rolebindings", ""), fields{"metadata": fields{"name": name}, "subjects": []fields{{"kind": "ServiceAccount", "name": account, "namespace": w.ns}},
			"roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}})
	}
	w.create(w.in(rbacV1, "roles", ""), fields{"metadata": fields{"name": "v1"}, "rules": []fields{may("batch", "jobs", "get")}})
	w.create(w.in(rbacV1, "roles", ""), fields{"metadata": fields{"name": "v2"}, "rules": []fields{may("batch", "jobs", "get", "create")}})
	bind("old", "v1", "old")
	bind("new", "v2", "new")
	bind("lost", "v3", "lost")
	ask := func(env steps.Env, account, verb, resource string) steps.Observation {
		t.Helper()
		in := what("account", account, "verb", verb, "resource", resource)
		in["namespace"] = steps.StringOf(w.ns)
		return w.aboutAs(env, "kube/may", in)
	}
	w.until("the rights", func() bool { return ask(w.root(), "new", "create", "jobs").Facts["allowed"].Bool() })
	for _, tc := range []struct{ account, verb, resource, allowed, missing, by string }{
		{"old", "create", "jobs", "false", "false", "[]"},
		{"old", "get", "job", "true", "false", `["rolebinding/` + w.ns + `/old to role/v1"]`},
		{"new", "create", "jobs.batch", "true", "false", `["rolebinding/` + w.ns + `/new to role/v2"]`},
		{"new", "create", "jobs/status", "false", "false", "[]"},
		{"lost", "create", "jobs", "false", "true", "[]"},
		{"nobody", "create", "jobs", "false", "false", "[]"},
	} {
		obs := ask(w.root(), tc.account, tc.verb, tc.resource)
		for fact, want := range map[string]string{"allowed": tc.allowed, "missing_role": tc.missing, "by": tc.by, "asked": "true", "agree": "true"} {
			wantFact(t, obs, fact, want)
		}
	}
	// What a role would grant is told before it is bound; one that is not there, or that may not be read, grants nothing known.
	for _, tc := range []struct {
		env                steps.Env
		role, would, rules string
	}{
		{w.root(), "role/v2", "true", `["get,create jobs.batch"]`},
		{w.root(), "role/v1", "false", `["get jobs.batch"]`},
		{w.root(), "role/v3", "?role/v3 does not exist", "?role/v3 does not exist"},
		{w.env, "clusterrole/admin", "?clusterrole/admin could not be read", "?could not be read"},
		{w.root(), "", "?no role is named", "?no role is named"},
	} {
		in := what("account", "old", "verb", "create", "resource", "jobs")
		in["namespace"], in["role"] = steps.StringOf(w.ns), steps.StringOf(tc.role)
		obs := w.aboutAs(tc.env, "kube/may", in)
		wantFact(t, obs, "would", tc.would)
		wantFact(t, obs, "rules", tc.rules)
	}
	// The operator of the lab may ask no access review, and sees the roles of the
	// namespace alone: what they grant is known, what they do not is open.
	wantFact(t, ask(w.env, "new", "create", "jobs"), "allowed", "true")
	obs := ask(w.env, "old", "create", "jobs")
	wantFact(t, obs, "allowed", "?could not be asked")
	wantFact(t, obs, "missing_role", "?permission denied")
	wantFact(t, ask(w.env, "lost", "create", "jobs"), "missing_role", "true")
	// system:masters passes by every role, and the server says so.
	obs = ask(w.root(), "group/system:masters", "delete", "nodes")
	wantFact(t, obs, "allowed", "true")
	wantFact(t, obs, "agree", "true")
}
