package kube

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/patch"
)

// TestSuspendOfGitOps pauses and resumes what Argo CD and Flux define, on their
// own definitions.
func TestSuspendOfGitOps(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	uidOf := func(m fields) string { return m["metadata"].(fields)["uid"].(string) }
	app := uidOf(w.app("shop", nil, fields{"automated": fields{"selfHeal": true, "prune": true}}))
	manual := uidOf(w.app("by-hand", nil, nil))
	kustomization := uidOf(w.create(w.in(fluxKustomizeV1, "kustomizations", ""), fields{"apiVersion": fluxKustomizeV1, "kind": "Kustomization",
		"metadata": fields{"name": "apps"}, "spec": fields{"interval": "10m", "prune": true, "sourceRef": fields{"kind": "GitRepository", "name": "x"}}}))
	gate := func(kind, resource, name, uid string) (steps.Preview, steps.Gater, steps.Params) {
		i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == kind })
		g, in := Kinds()[i].Changes(w.root()), changeIn(resource, name, uid)
		p, err := g.Preview(t.Context(), in, &scrap{})
		if err != nil {
			t.Fatal(err)
		}
		return p, g, in
	}
	act := func(kind, resource, name, uid string) steps.Preview {
		p, g, _ := gate(kind, resource, name, uid)
		a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
		if err != nil {
			t.Fatalf("%s %s: %v", kind, name, err)
		}
		if o, err := g.Act(t.Context(), a, &scrap{}); err != nil || o.Result != steps.Done {
			t.Fatalf("%s %s: Act() = %+v, %v", kind, name, o, err)
		}
		return p
	}
	at := func(group, plural, name, pointer string) any {
		v, _ := patch.Get(w.read(w.in(group, plural, name)), pointer)
		return v
	}
	p := act("kube/suspend", "application", "shop", app)
	if at("argoproj.io/v1alpha1", "applications", "shop", "/spec/syncPolicy/automated/enabled") != false || at("argoproj.io/v1alpha1", "applications", "shop", "/spec/syncPolicy/automated/selfHeal") != true {
		t.Error("the block of auto-sync is not as it was, with its switch off")
	}
	if p.Owes[0].Kind != "resume" || !strings.Contains(p.Effect, "self-heal") {
		t.Errorf("owes = %v, effect = %q", p.Owes, p.Effect)
	}
	if fmt.Sprint(w.read(w.in("argoproj.io/v1alpha1", "applications", "shop"))["metadata"].(fields)["managedFields"]) == "" {
		t.Error("nobody is recorded as who paused it")
	}
	notes := func() map[string]string {
		out := map[string]string{}
		all, _ := at("argoproj.io/v1alpha1", "applications", "shop", "/metadata/annotations").(map[string]any)
		for key, v := range all {
			out[key] = fmt.Sprint(v)
		}
		return out
	}
	if n, noted := steps.PauseNoteOf(notes()); !noted || time.Until(n.Until) < 3*time.Hour || n.Overdue(time.Now()) {
		t.Errorf("the object says of its pause %q", n)
	}
	if p, _, _ := gate("kube/suspend", "application", "shop", app); !strings.Contains(unmetText(p), "is off already") {
		t.Errorf("unmet = %q", unmetText(p))
	}
	act("kube/resume", "application", "shop", app)
	if at("argoproj.io/v1alpha1", "applications", "shop", "/spec/syncPolicy/automated/enabled") != true {
		t.Error("auto-sync is not on again")
	}
	if n, noted := steps.PauseNoteOf(notes()); noted {
		t.Errorf("it goes on, and says %q", n)
	}
	if p, _, _ := gate("kube/suspend", "application", "by-hand", manual); !strings.Contains(unmetText(p), "no auto-sync") {
		t.Errorf("unmet = %q", unmetText(p))
	}
	act("kube/suspend", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", kustomization)
	if at(fluxKustomizeV1, "kustomizations", "apps", "/spec/suspend") != true {
		t.Error("the Kustomization is not suspended")
	}
	act("kube/resume", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", kustomization)
}

// externalSecrets is the version of ExternalSecret that the lab serves.
const externalSecrets = "external-secrets.io/v1"

// TestPauseOfExternalSecret takes the writing from an ExternalSecret of the real definition, with and without a target of its own, and
// does not guess what it was when it is to go on.
func TestPauseOfExternalSecret(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	const group = externalSecrets
	uid := map[string]string{}
	for name, spec := range map[string]fields{
		"merged": {"refreshInterval": "1h", "secretStoreRef": fields{"name": "vault"}, "target": fields{"name": "db", "creationPolicy": "Merge"}},
		"plain":  {"refreshInterval": "1h", "secretStoreRef": fields{"name": "vault"}}} {
		m := w.create(w.in(group, "externalsecrets", ""), fields{"apiVersion": group, "kind": "ExternalSecret", "metadata": fields{"name": name}, "spec": spec})
		uid[name] = m["metadata"].(fields)["uid"].(string)
	}
	preview := func(kind, name string) (steps.Preview, steps.Gater) {
		t.Helper()
		i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == kind })
		g := Kinds()[i].Changes(w.root())
		p, err := g.Preview(t.Context(), changeIn("externalsecrets.external-secrets.io", name, uid[name]), &scrap{})
		if err != nil {
			t.Fatal(err)
		}
		return p, g
	}
	for name, was := range map[string]string{"merged": "Merge", "plain": "Owner"} {
		p, g := preview("kube/suspend", name)
		if len(p.Unmet) > 0 || !strings.Contains(p.Effect, "creationPolicy was "+was) || len(p.Owes) != 1 || p.Owes[0].Kind != "resume" {
			t.Fatalf("%s: unmet = %s, effect = %q, owes = %+v", name, unmetText(p), p.Effect, p.Owes)
		}
		a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := g.Act(t.Context(), a, &scrap{}); err != nil || o.Result != steps.Done {
			t.Fatalf("%s: Act() = %+v, %v", name, o, err)
		}
		now := w.read(w.in(group, "externalsecrets", name))
		policy, _ := patch.Get(now, "/spec/target/creationPolicy")
		every, _ := patch.Get(now, "/spec/refreshInterval")
		if policy != "None" || every != "1h" {
			t.Errorf("%s: creationPolicy = %v, refreshInterval = %v", name, policy, every)
		}
		if p, _ := preview("kube/suspend", name); !strings.Contains(unmetText(p), "writes no Secret already") {
			t.Errorf("%s: unmet = %q", name, unmetText(p))
		}
		if p, _ := preview("kube/resume", name); !strings.Contains(unmetText(p), "does not say which creationPolicy") {
			t.Errorf("%s: unmet = %q", name, unmetText(p))
		}
	}
}

// TestAdmissionThatRewritesIsRefused: what is rewritten in the same request never
// gets to a confirmation, and is found where the policy came after it.
func TestAdmissionThatRewritesIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "configmaps", name: "flags"})
	in := changeIn("configmap", "flags", uid, "patch", `[{op: replace, path: /data/a, value: "fixed"}]`)
	g := s.gate("kube/patch")
	armed := s.preview(g, in)
	early := s.confirm(armed, armed.Digest("i", "s"))

	const api = "/apis/admissionregistration.k8s.io/v1/"
	name := "handrail-rewrites-" + s.ns.Name
	s.must("POST", api+"mutatingadmissionpolicies", cluster.AsJSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"failurePolicy":"Fail","reinvocationPolicy":"Never",
		"matchConstraints":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}},"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["configmaps"]}]},
		"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {\"a\": \"broken\"}}"}}]}}`, name, s.ns.Name))
	t.Cleanup(func() { s.sweepAway(api + "mutatingadmissionpolicies/" + name) })
	s.must("POST", api+"mutatingadmissionpolicybindings", cluster.AsJSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"policyName":%q}}`, name, name))
	t.Cleanup(func() { s.sweepAway(api + "mutatingadmissionpolicybindings/" + name) })
	p := s.preview(g, in)
	for len(p.Unmet) == 0 { // it takes effect in a moment
		p = s.preview(g, in)
	}
	s.refusedBy(p, "put something else in its place")
	if !strings.Contains(p.Unmet[0].Cure, "managedFields would name you") {
		t.Errorf("cure = %q", p.Unmet[0].Cure)
	}
	o, err := g.Act(t.Context(), early, &scrap{})
	if err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "put something else in its place") {
		t.Errorf("Act() = %+v, %v, want failed", o, err)
	}
	fixed := s.born("", "configmaps", map[string]any{"metadata": map[string]any{"name": "fixed"}, "immutable": true, "data": map[string]any{"a": "b"}})
	s.refused("kube/recreate", changeIn("configmap", "fixed", fixed, "patch", `[{op: replace, path: /data/a, value: c}]`), "would not be what was asked for")
}
