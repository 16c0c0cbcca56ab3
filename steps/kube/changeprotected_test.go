package kube

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
)

// teamMarkers are what a team wrote into its file.
func teamMarkers() ([]steps.Marker, error) {
	return []steps.Marker{{Key: "example.com/tier", Value: "ledger"}, {Key: "*/do-not-touch"}}, nil
}

// markings are ways in which an object is marked, as merge patches.
func markings() map[string]string {
	return map[string]string{
		"label":            `{"metadata":{"labels":{"role":"protected"}}}`,
		"prefixed label":   `{"metadata":{"labels":{"team.example/role":"Protected"}}}`,
		"annotation":       `{"metadata":{"annotations":{"purpose":"chaos-canary"}}}`,
		"other annotation": `{"metadata":{"annotations":{"example.com/purpose":" chaos-canary "}}}`,
		"team label":       `{"metadata":{"labels":{"example.com/tier":"ledger"}}}`,
		"team annotation":  `{"metadata":{"annotations":{"anybody.example/do-not-touch":"since 2019"}}}`,
	}
}

// quarry is an object that a gate could change, if nothing protected it.
type quarry struct {
	group, resource string
	body            func(name string) map[string]any
	in              func(s *stage, name, uid string) steps.Params
}

// quarries has one for each gate of the package: a gate without one fails the
// test that walks them.
func quarries() map[string]quarry {
	cm := func(name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name}, "data": map[string]any{"a": "b"}}
	}
	held := func(name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name, "finalizers": []any{cleaner}}}
	}
	web := func(name string) map[string]any { return deployment(name, nil) }
	paused := func(name string) map[string]any {
		m := cronJob(name)
		m["spec"].(map[string]any)["suspend"] = true
		return m
	}
	plainIn := func(resource string, more ...string) func(*stage, string, string) steps.Params {
		return func(_ *stage, name, uid string) steps.Params { return changeIn(resource, name, uid, more...) }
	}
	fixed := func(name string) map[string]any {
		m := cm(name)
		m["immutable"] = true
		return m
	}
	return map[string]quarry{
		"kube/patch":    {"", "configmaps", cm, plainIn("configmap", "patch", `[{op: add, path: /data/c, value: d}]`)},
		"kube/delete":   {"", "configmaps", cm, plainIn("configmap")},
		"kube/recreate": {"", "configmaps", fixed, plainIn("configmap", "patch", `[{op: replace, path: /data/a, value: d}]`)},
		"kube/suspend":  {"batch", "cronjobs", cronJob, plainIn("cronjob")},
		"kube/resume":   {"batch", "cronjobs", paused, plainIn("cronjob")},
		"kube/restart":  {"apps", "deployments", web, plainIn("deployment")},
		"kube/stop-batch": {"apps", "deployments", web, func(s *stage, name, uid string) steps.Params {
			return steps.Params{"uids": steps.TableOf(map[string]string{"deployments.apps/" + s.ns.Name + "/" + name: uid})}
		}},
		"kube/strip-batch": {"", "configmaps", held, func(s *stage, name, uid string) steps.Params {
			return s.batch(map[string]string{"configmaps/" + s.ns.Name + "/" + name: uid})
		}},
		"kube/suspend-batch": {"batch", "cronjobs", cronJob, func(s *stage, name, uid string) steps.Params {
			return steps.Params{"uids": steps.TableOf(map[string]string{"cronjobs.batch/" + s.ns.Name + "/" + name: uid})}
		}},
		"kube/delete-batch": {"", "configmaps", cm, func(s *stage, name, uid string) steps.Params {
			return steps.Params{"uids": steps.TableOf(map[string]string{"configmaps/" + s.ns.Name + "/" + name: uid})}
		}},
		"kube/change-batch": {"", "configmaps", cm, func(s *stage, name, uid string) steps.Params {
			return s.changes(map[string]string{"configmaps/" + s.ns.Name + "/" + name: uid}, "- {object: configmaps/"+s.ns.Name+"/"+name+", patch: [{op: add, path: /data/c, value: d}]}")
		}},
		"kube/strip-finalizer": {"", "configmaps", held, func(s *stage, name, uid string) steps.Params { return s.stripParams("configmap", name, uid) }},
	}
}

// onlyWebhooks are gates on what has no namespace; TestProtectedWebhooks is
// theirs. What kube/create makes is not there yet; TestCreate has it.
var onlyWebhooks = []string{"kube/delete-webhook", "kube/delete-policy", "kube/narrow-webhook", "kube/except-policy", "kube/create"}

// TestProtectedIsNeverChanged walks through every gate to its act, while another
// client marks the object at each moment of the way: what is marked when the act
// begins stays as it is, and the server's audit log holds no write of it.
func TestProtectedIsNeverChanged(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env.Protected = teamMarkers
	s.allow(false, []string{"apps"}, []string{"deployments/scale"})
	all := quarries()
	for _, k := range Kinds() {
		if _, ok := all[k.Name]; k.Changes != nil && !ok && !slices.Contains(onlyWebhooks, k.Name) {
			t.Errorf("no path goes through %s: give it an object", k.Name)
		}
	}
	marks := slices.Sorted(maps.Keys(markings()))
	changed := map[string]bool{} // names of objects that were never marked
	for i, kind := range slices.Sorted(maps.Keys(all)) {
		for j, when := range []string{"never", "from the beginning", "after the preview", "after the confirmation"} {
			name := fmt.Sprintf("it-%d-%d", i, j)
			changed[name] = s.marksOnTheWay(kind, all[kind], name, when, markings()[marks[(i+j)%len(marks)]])
		}
	}
	if len(marks) > len(all) {
		t.Errorf("%d marks, and only %d gates to try them in", len(marks), len(all))
	}
	for _, w := range s.writes() {
		if !changed[w.Name] && w.Code/100 == 2 {
			t.Errorf("the server took %s of the marked %s", w.Verb, w.Name)
		}
	}
}

// marksOnTheWay walks one gate, and says whether its object was never marked.
func (s *stage) marksOnTheWay(kind string, q quarry, name, when, mark string) bool {
	s.t.Helper()
	marked, was := false, ""
	uid := s.born(q.group, q.resource, q.body(name))
	path := s.at(q.group, q.resource, name)
	maybe := func(moment string) {
		if when == moment {
			s.must("PATCH", path, "application/merge-patch+json", mark)
			was, marked = s.said(path), true
		}
	}
	g, in := s.gate(kind), q.in(s, name, uid)
	maybe("from the beginning")
	armed := s.preview(g, in)
	maybe("after the preview")
	fresh := s.preview(g, in)
	a, err := steps.Confirm(fresh, "i", "s", armed.Digest("i", "s"), armed.Phrase)
	if marked != (err != nil) || marked && !errors.Is(err, steps.ErrUnmet) {
		s.t.Errorf("%s, marked %s: Confirm() = %v: %s", kind, when, err, unmetText(fresh))
	}
	maybe("after the confirmation")
	o, err := g.Act(s.t.Context(), a, &scrap{})
	switch {
	case marked && err == nil && o.Result != steps.Refused:
		s.t.Errorf("%s, marked %s: Act() = %+v", kind, when, o)
	case !marked && (err != nil || o.Result != steps.Done):
		s.t.Errorf("%s: Act() = %+v, %v on a free one: the path proves nothing", kind, o, err)
	}
	if marked && s.said(path) != was {
		s.t.Errorf("%s, marked %s: the object is not as it was:\n%s\n%s", kind, when, was, s.said(path))
	}
	return !marked
}

// said is an object without what controllers report of it.
func (s *stage) said(path string) string {
	m := s.now(path)
	delete(m, "status")
	meta := m["metadata"].(map[string]any)
	for _, key := range []string{"managedFields", "resourceVersion", "generation"} {
		delete(meta, key)
	}
	if notes, ok := meta["annotations"].(map[string]any); ok {
		delete(notes, "deployment.kubernetes.io/revision") // the controller writes it in its own time
		if len(notes) == 0 {
			delete(meta, "annotations")
		}
	}
	b, err := act.Compact(m)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// TestProtectedByItsPlace: what makes an object, what it makes, what it owns and
// the namespace that it is in protect it too.
func TestProtectedByItsPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	m := deployment("templates", nil)
	m["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)["annotations"] = map[string]any{"purpose": "chaos-canary"}
	uid := s.born("apps", "deployments", m)
	s.refused("kube/restart", changeIn("deployment", "templates", uid), "of what it makes")

	owner := s.make(thingMade{resource: "configmaps", name: "owner", labels: map[string]string{"role": "protected"}})
	ref := []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner}}
	owned := s.make(thingMade{resource: "configmaps", name: "owned", owners: ref})
	s.refused("kube/delete", changeIn("configmap", "owned", owned), "which owns it")

	parent := s.make(thingMade{resource: "configmaps", name: "parent"})
	s.make(thingMade{resource: "configmaps", name: "child", labels: map[string]string{"purpose": "chaos-canary"},
		owners: []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": parent}}})
	s.refused("kube/delete", changeIn("configmap", "parent", parent), "one of that is protected")

	free := s.make(thingMade{resource: "configmaps", name: "free", labels: map[string]string{"role": "protected-not", "my-role": "protected"}})
	in := changeIn("configmap", "free", free, "patch", `[{op: add, path: /data/c, value: d}]`)
	if p := s.preview(s.gate("kube/patch"), in); len(p.Unmet) > 0 {
		t.Errorf("unmet = %s", unmetText(p))
	}
	s.env.Protected = func() ([]steps.Marker, error) { return nil, errors.New("line 3: what is this") }
	if _, err := s.gate("kube/patch").Preview(t.Context(), in, &scrap{}); err == nil || !strings.Contains(err.Error(), "which objects are protected") {
		t.Errorf("Preview() with a broken list = %v", err)
	}
	s.env.Protected = nil
	s.must("PATCH", "/api/v1/namespaces/"+s.ns.Name, "application/merge-patch+json", `{"metadata":{"labels":{"role":"protected"}}}`)
	s.refused("kube/patch", in, "the namespace "+s.ns.Name+" bears")
	s.env.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(s.env.Dir, "m.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refused("kube/create", steps.Params{"file": steps.PathOf("m.yaml"), "namespace": steps.StringOf(s.ns.Name)}, "is protected")
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %+v", w)
	}
}

// TestProtectedWebhooks: a rule of the cluster can be protected as well.
func TestProtectedWebhooks(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(true, []string{"admissionregistration.k8s.io"}, []string{"*"})
	name := s.ns.Name + "-guard"
	uid := s.hook("mutatingwebhookconfigurations", name, "Fail")
	s.must("PATCH", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"+name, "application/merge-patch+json", `{"metadata":{"annotations":{"role":"protected"}}}`)
	s.refused("kube/delete-webhook", changeIn("mutatingwebhookconfiguration", name, uid), "is protected")
	bound := s.policy(name)
	s.must("PATCH", policies+"mutatingadmissionpolicybindings/"+name, "application/merge-patch+json", `{"metadata":{"annotations":{"role":"protected"}}}`)
	s.refused("kube/delete-policy", changeIn("mutatingadmissionpolicybinding", name, bound["mutatingadmissionpolicybindings"]), "is protected")
	s.refused("kube/narrow-webhook", changeIn("mutatingwebhookconfiguration", name, uid, "webhook", "first.policy.example", "to", "ignore"), "is protected")
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %+v", w)
	}
}

// TestNoSelectorNoPattern: what names an object names one, by the grammar of its
// parameters.
func TestNoSelectorNoPattern(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		if k.Changes == nil {
			continue
		}
		for _, f := range k.Params {
			// What a repair may open are places in the one object, and what comes first is only read.
			aside := f.Literal || f.Name == "after"
			if strings.HasSuffix(k.Name, "-batch") && (f.Name == "uids" || f.Name == "finalizers") {
				continue // a list of single objects, each with its UID
			}
			if f.Name == "selector" || !aside && f.Type == steps.Strings || f.Type == steps.Table {
				t.Errorf("%s takes %s, which may be about many", k.Name, f.Name)
			}
			if f.Name != "name" {
				continue
			}
			for _, many := range []string{"*", "web-*", "a,b", "a b", "app=web", "", "a/b", "--all", "web?", "[a-z]"} {
				if cluster.Matches(f.Pattern, many) {
					t.Errorf("%s takes the name %q", k.Name, many)
				}
			}
		}
	}
}
