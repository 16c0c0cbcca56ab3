package kube

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
)

// TestPatchHoldsTo walks the ways in which an object that another gate is about
// was emptied or opened by a patch, on the real API server.
func TestPatchHoldsTo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{"*"}, []string{"*"})
	s.role("migrate-v1", "get")
	quota := s.born("", "resourcequotas", map[string]any{"metadata": map[string]any{"name": "room"}, "spec": map[string]any{"hard": map[string]any{"pods": "40", "secrets": "200"}}})
	policy := s.born("networking.k8s.io", "networkpolicies", map[string]any{"metadata": map[string]any{"name": "shut"}, "spec": map[string]any{
		"podSelector": map[string]any{}, "policyTypes": []any{"Egress"}, "egress": []any{map[string]any{"ports": []any{map[string]any{"port": 443}}}}}})
	binding := s.binding("migrate", "migrate-v1", nil)
	script := s.born("", "configmaps", map[string]any{"metadata": map[string]any{"name": "script"}, "data": map[string]any{"run": "set -e\nflyway migrate\npsql -f after.sql\n"}})
	for _, tc := range []struct{ kind, resource, name, uid, ops, why string }{
		{"kube/patch", "resourcequota", "room", quota, `[{op: replace, path: /spec/hard, value: {}}]`, "takes away /spec/hard/pods"},
		{"kube/patch", "resourcequota", "room", quota, `[{op: replace, path: /spec/hard/pods, value: "41"}]`, "opens /spec/hard/pods"},
		{"kube/patch", "networkpolicy", "shut", policy, `[{op: add, path: /spec/egress/-, value: {}}]`, "opens /spec/egress/1"},
		{"kube/patch", "networkpolicy", "shut", policy, `[{op: replace, path: /spec/policyTypes, value: [Ingress]}]`, "takes away /spec/policyTypes"},
		{"kube/patch", "rolebinding", "migrate", binding, `[{op: replace, path: /subjects/0/name, value: operator}]`, "opens /subjects/0"},
		{"kube/patch", "rolebinding", "migrate", binding, `[{op: remove, path: /subjects}]`, "takes away /subjects/0"},
		{"kube/recreate", "rolebinding", "migrate", binding, `[{op: replace, path: /roleRef/name, value: migrate-v2}, {op: replace, path: /subjects/0/name, value: operator}]`, "opens /subjects/0"},
		{"kube/recreate", "rolebinding", "migrate", binding, `[{op: replace, path: /roleRef/name, value: cluster-admin}]`, "no gate does it"},
		{"kube/patch", "configmap", "script", script, `[{op: replace, path: /data/run, value: "exit 0\n"}]`, "takes away /data/run"},
		{"kube/patch", "configmap", "script", script, `[{op: remove, path: /data/run}]`, "takes away /data/run"},
	} {
		t.Run(tc.kind+" "+tc.ops, func(t *testing.T) {
			s := *s
			s.t = t
			p := s.preview(s.gate(tc.kind), changeIn(tc.resource, tc.name, tc.uid, "patch", tc.ops))
			if why, is := p.Unmet, func(n steps.Need) bool { return strings.Contains(n.Why+n.Cure, tc.why) }; !slices.ContainsFunc(why, is) {
				t.Errorf("unmet = %+v, want %q", why, tc.why)
			}
			if a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err == nil || a != nil {
				t.Errorf("Confirm() = %v, want a refusal", err)
			}
		})
	}

	// What the runbook declares is done and shown, there and nowhere else.
	more := changeIn("resourcequota", "room", quota, "patch", `[{op: replace, path: /spec/hard/pods, value: "80"}]`, "widens", "/spec/hard/pods")
	p, _ := s.acts("kube/patch", more, steps.Done)
	if got := steps.Find(p.Shown, "what it opens"); !strings.Contains(got, "/spec/hard/pods, as the runbook says: it is raised from 40 to 80") {
		t.Errorf("shown = %q", got)
	}
	s.refused("kube/patch", changeIn("resourcequota", "room", quota, "patch", `[{op: replace, path: /spec/hard/secrets, value: "300"}]`, "widens", "/spec/hard/pods"), "opens /spec/hard/secrets")
	s.refused("kube/patch", changeIn("resourcequota", "room", quota, "patch", `[{op: replace, path: /spec/hard/pods, value: "8000"}]`, "widens", "/spec/hard/*"), "that is no limit")
	s.acts("kube/patch", changeIn("networkpolicy", "shut", policy, "patch",
		`[{op: add, path: /spec/egress/-, value: {to: [{podSelector: {}}], ports: [{protocol: TCP, port: 5432}]}}]`), steps.Done)

	// To take the whole of a limit away, or to make what opens it, is no way round.
	s.refused("kube/delete", deleteParams("networkpolicy", "shut", policy), "what it shut is open without it")
	declared := deleteParams("networkpolicy", "shut", policy)
	declared["removes"] = steps.StringsOf([]string{"/"})
	if p := s.preview(s.gate("kube/delete"), declared); len(p.Unmet) > 0 {
		t.Errorf("declared: unmet = %s", unmetText(p))
	}
	s.env.Dir = t.TempDir()
	for why, body := range map[string]string{
		"opens /spec/egress/0": "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: open}\nspec: {podSelector: {}, policyTypes: [Egress], egress: [{}]}\n",
		"opens /subjects/0":    "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: open}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: migrate-v1}\nsubjects: [{kind: User, name: mallory}]\n",
	} {
		if err := os.WriteFile(filepath.Join(s.env.Dir, "m.yaml"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		s.refused("kube/create", steps.Params{"file": steps.PathOf("m.yaml"), "namespace": steps.StringOf(s.ns.Name)}, why)
	}
	if w := s.writes(); len(w) != 2 {
		t.Errorf("writes = %+v", w)
	}
}

// TestRepairsComeInOrder: what comes first is read by the gate itself, whichever
// gate was opened before.
func TestRepairsComeInOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	cron := s.make(thingMade{resource: "configmaps", name: "script"})
	uid := s.must("POST", s.path("cronjobs", ""), cluster.AsJSON, `{"metadata":{"name":"migrate"},"spec":{"suspend":true,"schedule":"0 0 1 1 *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}}}}`)["metadata"].(map[string]any)["uid"].(string)
	in := func(after ...string) steps.Params {
		p := changeIn("cronjob", "migrate", uid)
		p["after"] = steps.StringsOf(after)
		return p
	}
	const strict = `configmaps/script [{op: replace, path: /data/a, value: strict}]`
	s.refused("kube/resume", in(strict), "comes first, and is not repaired: /data/a is")
	s.refused("kube/resume", in(`configmaps/none [{op: replace, path: /data/a, value: strict}]`), "it is not there")
	s.refused("kube/resume", in(`roles/none/x [{op: replace, path: /data/a, value: strict}]`), "is not known")
	s.refused("kube/resume", in(`secrets/script nonsense`), "comes first")
	s.acts("kube/patch", changeIn("configmap", "script", cron, "patch", `[{op: replace, path: /data/a, value: strict}]`), steps.Done)
	p, _ := s.acts("kube/resume", in(strict, "", "configmaps/", "configmaps/other "), steps.Done)
	if got := steps.Find(p.Shown, "comes after"); !strings.Contains(got, "configmap/"+s.ns.Name+"/script, which is repaired") {
		t.Errorf("shown = %q", got)
	}
}
