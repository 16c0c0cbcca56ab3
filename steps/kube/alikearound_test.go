package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/kube/act"
)

// TestLookalikesElsewhere: the object of the same name next door is not this one.
func TestLookalikesElsewhere(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	next := w.another().Name
	// The tests of other packages use the same cluster.
	name := "ledger-of-" + w.ns
	there := func(path string) string { return strings.Replace(path, "/"+w.ns+"/", "/"+next+"/", 1) }
	w.workload("deployments", name, 0)
	w.workload("statefulsets", name, 0)
	w.create(there(w.in(appsV1, "deployments", "")), fields{"metadata": fields{"name": name, "labels": fields{"owner": "payments"}},
		"spec": fields{"replicas": 0, "selector": fields{"matchLabels": fields{"app": name}}, "template": podTemplate(name)}})
	w.create(there(w.in(appsV1, "deployments", "")), fields{"metadata": fields{"name": "copy-in-" + next},
		"spec": fields{"replicas": 0, "selector": fields{"matchLabels": fields{"app": name}}, "template": podTemplate(name)}})
	obs := w.probe(w.root(), "kube/lookalikes", "deployment", name)
	wantFact(t, obs, "decoys", "[]")
	wantFact(t, obs, "elsewhere", `["deployment/`+next+`/copy-in-`+next+`" "deployment/`+next+`/`+name+`" "statefulset/`+w.ns+`/`+name+`"]`)
	wantFinding(t, obs, "Not deployment/"+next+"/"+name+": the same name in another namespace; owner label owner=payments")
	wantFinding(t, obs, "Not deployment/"+next+"/copy-in-"+next+": under another name the same image and selector")
	wantFinding(t, obs, "Not statefulset/"+w.ns+"/"+name+": the same name, another kind of object")

	// A generated name has its like under another one.
	w.job(name+"-x7z2k", nil)
	w.create(there(w.in("", "configmaps", "")), fields{"metadata": fields{"name": name + "-x7z2k"}})
	template := podTemplate(name)
	template["spec"].(fields)["restartPolicy"] = "Never"
	w.create(there(w.in(batchV1, "jobs", "")), fields{"metadata": fields{"name": name + "-b9vtw"}, "spec": fields{"suspend": true, "template": template}})
	wantFact(t, w.probe(w.root(), "kube/lookalikes", "job", name+"-x7z2k"), "elsewhere", `["job/`+next+`/`+name+`-b9vtw"]`)

	// The same kind of another API group.
	for _, group := range []string{"a." + w.ns + ".example.com", "b." + w.ns + ".example.com"} {
		crd := "ledgers." + group
		schema := fields{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		if err := w.establish(crd, fields{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": fields{"name": crd}, "spec": fields{
			"group": group, "scope": "Namespaced", "names": fields{"kind": "Ledger", "plural": "ledgers"},
			"versions": []fields{{"name": "v1", "served": true, "storage": true, "schema": fields{"openAPIV3Schema": schema}}}}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _, _ = w.try(http.MethodDelete, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+crd, "", nil)
		})
		w.create(w.in(group+"/v1", "ledgers", ""), fields{"apiVersion": group + "/v1", "kind": "Ledger", "metadata": fields{"name": name}})
	}
	obs = w.probe(w.root(), "kube/lookalikes", "ledgers.a."+w.ns+".example.com", name)
	wantFact(t, obs, "elsewhere", `["ledger.b.`+w.ns+`.example.com/`+w.ns+`/`+name+`"]`)

	// The gate shows them too, and what it could not look at.
	for _, tc := range []struct {
		env  steps.Env
		key  string
		part string
	}{
		{w.root(), act.KeyAlike, "deployment/" + next + "/" + name + ": the same name in another namespace"},
		{w.env, "no look-alikes sought in", "other namespaces: permission denied"},
		{w.env, "no look-alikes sought in", "equal specs in other namespaces: permission denied"},
	} {
		_, o := w.seen(w.client(tc.env), "deployment", name)
		p, err := gateOf("kube/delete", tc.env).Preview(t.Context(), deleteParams("deployment", name, string(o.GetUID())), steps.SecretsOnly(nil))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(p.Shown, func(kv steps.KV) bool { return kv.Key == tc.key && strings.Contains(kv.Value, tc.part) }) {
			t.Errorf("shown = %q, want %s %q", p.Shown, tc.key, tc.part)
		}
	}
	blind := w.probe(w.env, "kube/lookalikes", "deployment", name)
	wantFact(t, blind, "decoys", "[]")
	wantGap(t, blind, "other namespaces")
}
