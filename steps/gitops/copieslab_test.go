//go:build unix

package gitops

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// copied reads copies and the Pods that took them from a real API server: by the name, by the keys,
// across namespaces, with the writers that its books name.
func copied(t *testing.T, l *lab.Lab) {
	s := &side{T: t, lab: l}
	var spaces []string
	for range 3 {
		ns, err := l.Namespace(t.Context(), "copied")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.VacateNamespace(context.WithoutCancel(t.Context()), ns.Name) })
		spaces = append(spaces, ns.Name)
		s.env.Kubeconfig = ns.OperatorKubeconfig
	}
	outsider := s.env
	s.env = steps.Env{Kubeconfig: l.Kubeconfig(), Home: t.TempDir(), Now: time.Now, Version: "test"}
	outsider.Home, outsider.Now, outsider.Version = t.TempDir(), time.Now, "test"
	config := func(ns, name string, data map[string]any) string {
		at := "/api/v1/namespaces/" + ns + "/configmaps"
		body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data}
		if err := l.Request(t.Context(), http.MethodPost, at+"?fieldManager=argocd-controller", "application/json", body, nil); err != nil {
			t.Fatal(err)
		}
		return at + "/" + name
	}
	first := config(spaces[0], "one-setting", map[string]any{"COPIED_ALG": "HS256", "COPIED_KID": "k-1"})
	config(spaces[1], "one-setting-renamed", map[string]any{"COPIED_ALG": "HS256", "COPIED_KID": "k-1"})
	config(spaces[2], "one-setting", map[string]any{"COPIED_ALG": "HS256"})
	config(spaces[1], "one-setting", map[string]any{"OTHER": "of the same name, and another thing"})
	config(spaces[2], "another", map[string]any{"COPIED_ALG": "only one of the keys"})
	old := s.pod(spaces[0], "one-setting", "-1h")
	s.pod(spaces[1], "one-setting-renamed", "1h")
	if err := l.Request(t.Context(), http.MethodPatch, first+"?fieldManager=kubectl-edit", "application/merge-patch+json", map[string]any{"data": map[string]any{"COPIED_KID": "k-2"}}, nil); err != nil {
		t.Fatal(err)
	}
	in := steps.Params{"name": steps.StringOf("one-setting"), "alg_key": steps.StringOf("COPIED_ALG"), "kid_key": steps.StringOf("COPIED_KID"),
		"issuer": steps.StringOf(spaces[0]), "failing": steps.StringOf(spaces[1]), "header": steps.StringOf("alg=HS256 kid=k-2")}
	facts := s.probe("gitops/copies", in).Facts
	wantFacts(t, facts, map[string]string{
		"issuer": spaces[0], "second": spaces[2], "third": spaces[1],
		"found":      fmt.Sprintf("%s/one-setting; %s/one-setting; %s/one-setting-renamed", spaces[0], spaces[2], spaces[1]),
		"issuer_kid": "k-2", "third_kid": "k-1", "second_alg": "HS256", "second_kid": "",
		"live_wrong":      fmt.Sprintf("%s/one-setting: nothing for COPIED_KID; %s/one-setting-renamed: k-1 for COPIED_KID", spaces[2], spaces[1]),
		"by_hand":         spaces[0] + "/one-setting",
		"old":             "deployments.apps/" + spaces[0] + "/taker",
		"issuer_old_name": "taker", "issuer_old_uid": old, "third_old_name": "",
	})
	if table := facts["loaded"].Table(); table[spaces[0]+"/one-setting"] != loadedOld || table[spaces[1]+"/one-setting-renamed"] != loadedNew || table[spaces[2]+"/one-setting"] == loadedOld {
		t.Errorf("loaded: %v", table)
	}
	if who := facts["writers"].Table()[spaces[0]+"/one-setting"]; !strings.Contains(who, "COPIED_ALG by argocd-controller at ") || !strings.Contains(who, "COPIED_KID by kubectl-edit at ") {
		t.Error(who)
	}
	// One namespace that may not be listed would hide a copy.
	if _, err := (copiesProbe{outsider}).Probe(t.Context(), in, steps.SecretsOnly(nil)); err == nil || !strings.Contains(err.Error(), "in all namespaces") {
		t.Errorf("an account of one namespace found all copies: %v", err)
	}
}

// pod makes a Deployment that takes a ConfigMap as variables, and says of its Pod, as a node
// would, when its container started; it returns the UID of the Deployment.
func (s *side) pod(ns, configMap, started string) string {
	s.Helper()
	labels := map[string]any{"app": "taker"}
	s.make("/apis/apps/v1/namespaces/"+ns+"/deployments", "apps/v1", "Deployment", "taker", map[string]any{"replicas": 1, "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "app:1",
			"envFrom": []any{map[string]any{"configMapRef": map[string]any{"name": configMap}}}}}}}})
	pods := "/api/v1/namespaces/" + ns + "/pods"
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	s.await("the Pod of the Deployment", func() bool {
		if err := s.lab.Request(s.Context(), http.MethodGet, pods, "", nil, &list); err != nil {
			s.Fatal(err)
		}
		return len(list.Items) == 1
	})
	after, err := time.ParseDuration(started)
	if err != nil {
		s.Fatal(err)
	}
	at := time.Now().Add(after).UTC().Format(time.RFC3339)
	s.merge(pods+"/"+list.Items[0].Metadata.Name+"/status", map[string]any{"status": map[string]any{"phase": "Running",
		"containerStatuses": []any{map[string]any{"name": "app", "image": "app:1", "imageID": "", "ready": true, "restartCount": 0, "state": map[string]any{"running": map[string]any{"startedAt": at}}}}}})
	var d struct{ Metadata struct{ UID string } }
	if err := s.lab.Request(s.Context(), http.MethodGet, "/apis/apps/v1/namespaces/"+ns+"/deployments/taker", "", nil, &d); err != nil {
		s.Fatal(err)
	}
	return d.Metadata.UID
}
