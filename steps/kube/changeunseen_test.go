package kube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	kubeowner "handrail/steps/kube/owner"
)

const rbacV1 = cluster.RBACGroup + "/v1"

// arm previews a change of a ConfigMap with the account of env.
func (w *keepersWorld) arm(env steps.Env, name string) (steps.Gater, steps.Preview) {
	w.t.Helper()
	o := w.read(w.in("", "configmaps", name))
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == "kube/patch" })
	g := Kinds()[i].Changes(env)
	p, err := g.Preview(w.t.Context(), changeIn("configmap", name, o["metadata"].(fields)["uid"].(string), "patch", `[{op: add, path: /data, value: {a: b}}]`), &scrap{})
	if err != nil {
		w.t.Fatal(err)
	}
	return g, p
}

// held wants a gate to be shut for a reason and with a cure, and not to be
// confirmed.
func (w *keepersWorld) held(p steps.Preview, why, cure string) {
	w.t.Helper()
	if !slices.ContainsFunc(p.Unmet, func(n steps.Need) bool { return strings.Contains(n.Why, why) && strings.Contains(n.Cure, cure) }) {
		w.t.Errorf("unmet = %+v, want %q with %q", p.Unmet, why, cure)
	}
	if a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err == nil {
		w.t.Errorf("Confirm() = %v, want a refusal", a)
	}
}

// grant binds a role of the namespace, made of rules where there are any, to the
// account of that name.
func (w *keepersWorld) grant(account, kind, role string, rules ...fields) {
	w.t.Helper()
	if len(rules) > 0 {
		w.create(w.in(rbacV1, "roles", ""), fields{"metadata": fields{"name": role}, "rules": rules})
	}
	w.create(w.in(rbacV1, "rolebindings", ""), fields{"metadata": fields{"name": account + "-" + role},
		"subjects": []fields{{"kind": "ServiceAccount", "name": account, "namespace": w.ns}},
		"roleRef":  fields{"apiGroup": cluster.RBACGroup, "kind": kind, "name": role}})
}

// TestUnseenMarksShut: what could be marked and was not read counts as marked,
// and the words say by which right it can be read: given that right, the gate
// opens. The built-in roles give the one to read their namespace.
func TestUnseenMarksShut(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	write := []fields{may("", "configmaps", "get", "list", "patch"), may("*", "*", "list")}
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "free"}})
	narrow := w.limited("narrow", write...)
	_, p := w.arm(narrow, "free")
	w.held(p, "the marks of namespace/"+w.ns+" could not be read: permission denied", fmt.Sprintf(
		`in a Role of the namespace %s, the rule {apiGroups: [""], resources: [namespaces], resourceNames: [%q], verbs: [get]}`, w.ns, w.ns))
	w.held(p, "namespace/"+w.ns, "-n "+w.ns+" auth can-i get namespaces/"+w.ns)
	w.held(p, "namespace/"+w.ns, "view, edit and admin")
	if len(p.Unmet) != 1 {
		t.Errorf("unmet = %+v, want the one need", p.Unmet)
	}

	w.grant("narrow", "Role", "sees-its-namespace", fields{"apiGroups": []string{""}, "resources": []string{"namespaces"}, "resourceNames": []string{w.ns}, "verbs": []string{"get"}})
	w.opens(narrow, "free")
	edits := w.limited("edits", may("", "configmaps", "get"))
	w.grant("edits", "ClusterRole", "edit")
	w.opens(edits, "free")

	// An owner that may not be read, in the namespace and of the cluster.
	owned := func(name string, refs ...fields) {
		w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": name, "ownerReferences": refs}})
	}
	ref := func(version, kind string, o fields) fields {
		meta := o["metadata"].(fields)
		return fields{"apiVersion": version, "kind": kind, "name": meta["name"], "uid": meta["uid"]}
	}
	owned("of-a-secret", ref("v1", "Secret", w.create(w.in("", "secrets", ""), fields{"metadata": fields{"name": "owner"}})))
	_, p = w.arm(narrow, "of-a-secret")
	w.held(p, "the marks of secret/"+w.ns+"/owner could not be read: permission denied",
		fmt.Sprintf(`in a Role of the namespace %s, the rule {apiGroups: [""], resources: [secrets], resourceNames: ["owner"], verbs: [get]}. `, w.ns))
	w.opens(edits, "of-a-secret")
	w.merge(w.in("", "secrets", "owner"), fields{"metadata": fields{"labels": fields{"role": "protected"}}})
	_, p = w.arm(edits, "of-a-secret")
	w.held(p, "secret/"+w.ns+"/owner, which owns it, bears", "it cannot be waived")
	class := "/apis/storage.k8s.io/v1/storageclasses"
	made := w.create(class, fields{"metadata": fields{"name": w.ns}, "provisioner": "example.com/none"})
	w.removedAtEnd(class + "/" + w.ns)
	owned("of-a-class", ref("storage.k8s.io/v1", "StorageClass", made))
	_, p = w.arm(edits, "of-a-class")
	w.held(p, "the marks of storageclass/"+w.ns+" could not be read", fmt.Sprintf(`in a ClusterRole, the rule {apiGroups: ["storage.k8s.io"], resources: [storageclasses], resourceNames: [%q], verbs: [get]}`, w.ns))

	// More owners than are walked, and one that no object can be.
	var above []fields
	for i := range kubeowner.MostParents + 2 {
		name := fmt.Sprintf("chain-%d", i)
		owned(name, above...)
		above = []fields{ref("v1", "ConfigMap", w.read(w.in("", "configmaps", name)))}
	}
	_, p = w.arm(edits, fmt.Sprintf("chain-%d", kubeowner.MostParents+1))
	w.held(p, "go on beyond 12", "ownerReferences")
}

// opens waits for a right, and wants the gate to be open then: previewed,
// confirmed and done.
func (w *keepersWorld) opens(env steps.Env, name string) {
	w.t.Helper()
	var g steps.Gater
	var p steps.Preview
	w.until("the gate on "+name+" opens", func() bool {
		g, p = w.arm(env, name)
		return len(p.Unmet) == 0
	})
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		w.t.Fatal(err)
	}
	if o, err := g.Act(w.t.Context(), a, &scrap{}); err != nil || o.Result != steps.Done {
		w.t.Errorf("Act() = %+v, %v", o, err)
	}
	w.merge(w.in("", "configmaps", name), fields{"data": nil})
}

// TestUnreadMarksShut spoils the one answer that could tell of a mark.
func TestUnreadMarksShut(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	owner := w.create(w.in("", "secrets", ""), fields{"metadata": fields{"name": "owner"}})["metadata"].(fields)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "held", "ownerReferences": []fields{
		{"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": owner["uid"]}}}})
	for path, of := range map[string]string{"/api/v1/namespaces/" + w.ns: "namespace/" + w.ns, w.in("", "secrets", "owner"): "secret/" + w.ns + "/owner"} {
		for _, how := range []string{"broken", "a gateway", "denied", "a login page", "nothing at all", "an empty thing", "another thing", "half of it"} {
			env := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path || r.Method != http.MethodGet {
					return false
				}
				code, real, err := w.try(http.MethodGet, path, "", nil)
				raw, cerr := act.Compact(real)
				if err != nil || cerr != nil {
					panic(http.ErrAbortHandler)
				}
				breaks()[how](rw, r, recordedAnswer{code: code, media: cluster.AsJSON, body: raw})
				return true
			})
			_, p := w.arm(env, "held")
			if !strings.Contains(unmetText(p), "the marks of "+of+" could not be read") {
				t.Errorf("%s at %s: unmet = %q", how, path, unmetText(p))
			}
			if a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err == nil {
				t.Errorf("%s at %s: Confirm() = %v", how, path, a)
			}
		}
	}
}
