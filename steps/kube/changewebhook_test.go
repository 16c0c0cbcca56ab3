package kube

import (
	"fmt"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	"handrail/steps/kube/patch"
)

// hook is a webhook without a server, on a kind that no test uses.
func (s *stage) hook(kind, name, policy string) string {
	s.t.Helper()
	path := "/apis/admissionregistration.k8s.io/v1/" + kind
	m := s.must("POST", path, cluster.AsJSON, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app.kubernetes.io/managed-by":"policy-operator"}},"webhooks":[
		{"name":"first.policy.example","rules":[{"operations":["CREATE"],"apiGroups":["nobody.example"],"apiVersions":["v1"],"resources":["things"]}],
		 "clientConfig":{"url":"https://127.0.0.1:1/first"},"sideEffects":"None","admissionReviewVersions":["v1"],"failurePolicy":%q},
		{"name":"second.policy.example","rules":[{"operations":["UPDATE"],"apiGroups":["nobody.example"],"apiVersions":["v1"],"resources":["things"]}],
		 "namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]},
		 "clientConfig":{"service":{"namespace":"policies","name":"server"}},"sideEffects":"None","admissionReviewVersions":["v1"]}]}`, name, policy))
	s.t.Cleanup(func() { s.sweepUp(path + "/" + name) })
	return m["metadata"].(map[string]any)["uid"].(string)
}

func TestNarrowAndDeleteWebhook(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(true, []string{"admissionregistration.k8s.io"}, []string{"*"})
	name := s.ns.Name + "-policies"
	uid := s.hook("validatingwebhookconfigurations", name, "Fail")
	at := func(pointer string) any {
		v, _ := patch.Get(s.now("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"+name), pointer)
		return v
	}
	in := func(more ...string) steps.Params {
		return changeIn("validatingwebhookconfiguration", name, uid, more...)
	}
	s.refused("kube/delete", in(), "decides over requests of the whole cluster")
	s.refused("kube/patch", in("patch", `[{op: replace, path: /webhooks/0/failurePolicy, value: Ignore}]`), "whole cluster")
	s.refused("kube/narrow-webhook", in("webhook", "third.policy.example", "to", "ignore"), "no webhook \"third")
	s.refused("kube/narrow-webhook", in("webhook", "first.policy.example", "to", "exclude"), "is not said")
	p, _ := s.acts("kube/narrow-webhook", in("webhook", "first.policy.example", "to", "ignore"), steps.Done)
	if at("/webhooks/0/failurePolicy") != "Ignore" || at("/webhooks/1/failurePolicy") != "Fail" {
		t.Error("another webhook was narrowed")
	}
	if !strings.Contains(p.Request, `"path":"/webhooks/0/name","value":"first.policy.example"`) || !strings.Contains(p.Effect, "still refuses and rewrites") || len(p.Owes) != 1 {
		t.Errorf("request = %s, effect = %s, owes = %v", p.Request, p.Effect, p.Owes)
	}
	if got := steps.Find(p.Shown, "protects"); !strings.Contains(got, "CREATE of things in nobody.example") || !strings.Contains(got, "https://127.0.0.1:1") || steps.Find(p.Shown, "managed by") != "policy-operator" {
		t.Errorf("shown = %v", p.Shown)
	}
	s.refused("kube/narrow-webhook", in("webhook", "first.policy.example", "to", "ignore"), "pass already")
	for i, hook := range []string{"first", "second"} {
		s.acts("kube/narrow-webhook", in("webhook", hook+".policy.example", "to", "exclude", "exclude", s.ns.Name), steps.Done)
		if got := object.ShowValue(at(fmt.Sprintf("/webhooks/%d/namespaceSelector", i))); !strings.Contains(got, s.ns.Name) || (i == 1) != strings.Contains(got, "Exists") {
			t.Errorf("selector of %s = %s", hook, got)
		}
	}
	cm := s.make(thingMade{resource: "configmaps", name: "a"})
	s.refused("kube/delete-webhook", changeIn("configmap", "a", cm), "not a webhook configuration")
	p, _ = s.acts("kube/delete-webhook", in(), steps.Done)
	if p.Phrase != "delete validatingwebhookconfiguration/"+name || p.Prior == nil || len(p.Owes) != 1 || !strings.Contains(p.Effect, "all 2 webhooks") {
		t.Errorf("phrase = %q, owes = %v, effect = %q", p.Phrase, p.Owes, p.Effect)
	}
}
