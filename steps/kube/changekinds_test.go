package kube

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

const policies = "/apis/admissionregistration.k8s.io/v1/"

// policy makes a mutating policy on a kind that no one has, and binds it; it returns
// the UIDs by resource.
func (s *stage) policy(name string) map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for resource, spec := range map[string]map[string]any{
		"mutatingadmissionpolicies": {"failurePolicy": "Ignore", "reinvocationPolicy": "Never",
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{"operations": []any{"CREATE"}, "apiGroups": []any{"nobody.example"}, "apiVersions": []any{"v1"}, "resources": []any{"things"}}}},
			"mutations":        []any{map[string]any{"patchType": "JSONPatch", "jsonPatch": map[string]any{"expression": `[JSONPatch{op: "add", path: "/metadata/labels/x", value: "y"}]`}}}},
		"mutatingadmissionpolicybindings": {"policyName": name},
	} {
		m := s.post(policies+resource, map[string]any{"metadata": map[string]any{"name": name}, "spec": spec})
		s.t.Cleanup(func() { s.sweepUp(policies + resource + "/" + name) })
		out[resource] = m["metadata"].(map[string]any)["uid"].(string)
	}
	return out
}

// TestDeleteAdmissionPolicy: the binding goes, which is the smaller step, and the policy
// only once nothing binds it.
func TestDeleteAdmissionPolicy(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(true, []string{"admissionregistration.k8s.io"}, []string{"*"})
	name := s.ns.Name + "-relabel"
	uids := s.policy(name)
	policy, binding := changeIn("mutatingadmissionpolicy", name, uids["mutatingadmissionpolicies"]), changeIn("mutatingadmissionpolicybinding", name, uids["mutatingadmissionpolicybindings"])
	s.refused("kube/delete", binding, "it limits others")
	p := s.refused("kube/delete-policy", policy, "mutatingadmissionpolicybinding/"+name+" binds")
	if !strings.Contains(steps.Find(p.Shown, "changes"), "/metadata/labels/x") || !strings.Contains(steps.Find(p.Shown, "decides over"), "nobody.example") {
		t.Errorf("shown = %v", p.Shown)
	}
	cm := s.make(thingMade{resource: "configmaps", name: "a"})
	s.refused("kube/delete-policy", changeIn("configmap", "a", cm), "no admission policy")
	p, _ = s.acts("kube/delete-policy", binding, steps.Done)
	if p.Phrase != "delete mutatingadmissionpolicybinding/"+name || steps.Find(p.Shown, "binds") != name || p.Prior == nil || len(p.Owes) != 1 {
		t.Errorf("preview = %+v", p)
	}
	s.acts("kube/delete-policy", policy, steps.Done)
}

// TestLeaseOfTheLiving: while its holder renews it, or did a moment ago, no gate takes a
// Lease away or gives it to another; the lock of a state has a gate of its own.
func TestLeaseOfTheLiving(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{"coordination.k8s.io"}, []string{"leases"})
	lease := func(name, holder string, ago time.Duration) string {
		spec := map[string]any{"leaseDurationSeconds": 15}
		if holder != "" {
			spec["holderIdentity"] = holder
			spec["renewTime"] = time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000000Z")
		}
		m := s.post(s.at("coordination.k8s.io", "leases", ""), map[string]any{"metadata": map[string]any{"name": name}, "spec": spec})
		return m["metadata"].(map[string]any)["uid"].(string)
	}
	for name, want := range map[string]string{"alive": "is alive", "lock-tfstate-default-x": "is the lock of a Terraform state"} {
		uid := lease(name, "leader-0", 0)
		s.refused("kube/delete", changeIn("lease", name, uid), want)
		s.refused("kube/patch", changeIn("lease", name, uid, "patch", `[{op: replace, path: /spec/holderIdentity, value: other}]`), want)
	}
	free := lease("free", "", 0)
	s.acts("kube/delete", changeIn("lease", "free", free), steps.Done)
}

// TestPatchOfTemplatesAndLimits: a Pod template takes a patch as other objects do, and
// a LimitRange where the runbook says that its limits are the repair.
func TestPatchOfTemplatesAndLimits(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{""}, []string{"podtemplates", "limitranges"})
	made := func(resource string, body string) string {
		m := s.must("POST", s.at("", resource, ""), cluster.AsJSON, body)
		return m["metadata"].(map[string]any)["uid"].(string)
	}
	template := made("podtemplates", `{"metadata":{"name":"batch"},"template":{"spec":{"containers":[{"name":"a","image":"example.com/a:1"}]}}}`)
	s.acts("kube/patch", changeIn("podtemplate", "batch", template, "patch", `[{op: replace, path: "/template/spec/containers/[name=a]/image", value: "example.com/a:2"}]`), steps.Done)
	limits := made("limitranges", `{"metadata":{"name":"pods"},"spec":{"limits":[{"type":"Container","default":{"cpu":"10m"}}]}}`)
	raise := func(more ...string) steps.Params {
		return changeIn("limitrange", "pods", limits, append([]string{"patch", `[{op: replace, path: /spec/limits/0/default/cpu, value: "200m"}]`}, more...)...)
	}
	s.refused("kube/patch", raise(), "it limits what one Pod may take")
	s.acts("kube/patch", raise("widens", "/spec/limits"), steps.Done)
	if got := fmt.Sprint(s.now(s.at("", "limitranges", "pods"))["spec"]); !strings.Contains(got, "200m") {
		t.Errorf("limits = %s", got)
	}
}
