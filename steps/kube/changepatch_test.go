package kube

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
)

// TestPatch changes one field of one object, and proves by the server's audit log
// that it did nothing else.
func TestPatch(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "configmaps", name: "flags"})
	s.merge("configmaps", "flags", `{"data":{"mode":"a <b> & 'c'","keep":"x"}}`)
	p, o := s.acts("kube/patch", changeIn("configmap", "flags", uid, "patch", `[{op: replace, path: /data/mode, value: "on"}, {op: add, path: /data/more, value: "1"}]`), steps.Done)
	if p.Phrase != "patch configmap/"+s.ns.Name+"/flags" || len(p.Owes) != 1 || p.Owes[0].Kind != "reconcile" {
		t.Errorf("phrase = %q, owes = %v", p.Phrase, p.Owes)
	}
	for _, want := range []string{`"path":"/metadata/uid","value":"` + uid, act.Later, `{"op":"test","path":"/data/mode","value":"a \u003cb\u003e \u0026 'c'"}`} {
		if !strings.Contains(p.Request, want) {
			t.Errorf("request = %s, want %s", p.Request, want)
		}
	}
	if len(p.Diff) != 3 || p.Diff[1] != `+ data.mode: "on"` {
		t.Errorf("diff = %q", p.Diff)
	}
	if !strings.Contains(p.Undo, "kubectl") || !strings.Contains(p.Undo, `"op":"remove","path":"/data/more"`) {
		t.Errorf("undo = %s", p.Undo)
	}
	got := s.now(s.at("", "configmaps", "flags"))["data"].(map[string]any)
	if got["mode"] != "on" || got["more"] != "1" || got["keep"] != "x" {
		t.Errorf("data = %v", got)
	}
	if w := s.writes(); len(w) != 1 || w[0].Verb != "patch" || w[0].ID != steps.Find(o.After, act.KeyAudit) {
		t.Errorf("writes = %+v", w)
	}
	s.refused("kube/patch", changeIn("configmap", "flags", uid, "patch", `[{op: replace, path: /data/mode, value: "on"}]`), "would change nothing")
}

// wrote says when a manager wrote an object: a test cannot wait a minute, and
// managedFields alone tell. The server takes back times that are all that a write
// changes, so a label changes beside.
func (s *stage) wrote(resource, name, manager string, at time.Time) {
	s.t.Helper()
	m := s.now(s.path(resource, name))
	list := m["metadata"].(map[string]any)["managedFields"].([]any)
	for i, e := range list {
		if e.(map[string]any)["manager"] == manager {
			// As a person: what made the object did not write it again.
			s.must("PATCH", s.path(resource, name)+"?fieldManager=kubectl-edit", "application/json-patch+json",
				fmt.Sprintf(`[{"op":"replace","path":"/metadata/managedFields/%d/time","value":"%s"},{"op":"add","path":"/metadata/labels","value":{"wrote":"%d"}}]`,
					i, at.UTC().Format(time.RFC3339), at.UnixNano()))
			return
		}
	}
	s.t.Fatalf("%s/%s: %q did not write it: %v", resource, name, manager, list)
}

// TestPatchRefuses names what is not changed here, and what changes it.
func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	cm := s.make(thingMade{resource: "configmaps", name: "flags", labels: map[string]string{"app": "a"}})
	s.must("POST", s.at("", "secrets", ""), cluster.AsJSON, `{"metadata":{"name":"keys"},"stringData":{"a":"b"}}`)
	secret := s.now(s.at("", "secrets", "keys"))["metadata"].(map[string]any)["uid"].(string)
	dep := s.born("apps", "deployments", deployment("web", nil))
	for _, tc := range []struct{ resource, name, uid, ops, why, cure string }{
		{"configmap", "flags", cm, `[{op: replace, path: /metadata/name, value: x}]`, "which object this is", "labels and annotations"},
		{"configmap", "flags", cm, `[{op: add, path: /metadata/finalizers, value: [a/b]}]`, "clean up", "kube/strip-finalizer"},
		{"configmap", "flags", cm, `[{op: add, path: /metadata/ownerReferences, value: []}]`, "garbage collector", ""},
		{"configmap", "flags", cm, `[{op: remove, path: /metadata/managedFields}]`, "who wrote what", ""},
		{"configmap", "flags", cm, `[{op: remove, path: /metadata/labels}]`, "all labels", "name the one label"},
		{"configmap", "flags", cm, `[{op: replace, path: /data/none, value: x}]`, "nothing at this path", ""},
		{"configmap", "flags", cm, `[{op: add, path: /status, value: {a: b}}]`, "derived", ""},
		{"configmap", "flags", cm, `[{op: replace, path: /kind, value: Secret}]`, "what the object is", ""},
		{"secret", "keys", secret, `[{op: replace, path: /data/a, value: Yg==}]`, "stand in the record", ""},
		{"secret", "keys", secret, `[{op: replace, path: /type, value: x}]`, "never be changed", "kube/recreate"},
		{"deployment", "web", dep, `[{op: replace, path: /spec/selector/matchLabels/app, value: x}]`, "never be changed", "kube/recreate"},
		{"deployment", "web", dep, `[{op: replace, path: /spec, value: {}}]`, "not one change", ""},
		{"deployment", "web", "not-the-uid", `[{op: replace, path: /spec/replicas, value: 2}]`, "another object of the same name", ""},
		{"deployment", "gone", dep, `[{op: replace, path: /spec/replicas, value: 2}]`, "is not there", ""},
	} {
		t.Run(tc.ops, func(t *testing.T) {
			s := *s
			s.t = t
			p := s.refused("kube/patch", changeIn(tc.resource, tc.name, tc.uid, "patch", tc.ops), tc.why)
			if len(p.Unmet) > 0 && !strings.Contains(p.Unmet[0].Cure, tc.cure) {
				t.Errorf("cure = %q, want %q", p.Unmet[0].Cure, tc.cure)
			}
		})
	}
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %+v", w)
	}
}

// TestPatchOfAList addresses an item by its name; the secret beside it stays out
// of the record.
func TestPatchOfAList(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.born("apps", "deployments", deployment("web", nil))
	p, _ := s.acts("kube/patch", changeIn("deploy", "web", uid, "patch",
		`[{op: replace, path: "/spec/template/spec/containers/[name=app]/image", value: "app:2"}, {op: replace, path: "/spec/template/spec/containers/[name=app]/env/[name=DB_PASSWORD]/value", value: "from-the-vault"}]`), steps.Done)
	if !strings.Contains(p.Request, `{"op":"test","path":"/spec/template/spec/containers/1/name","value":"app"}`) {
		t.Errorf("request = %s, want a test of the name", p.Request)
	}
	if strings.Contains(p.Request+p.Command+p.Undo, "hunter2") {
		t.Errorf("the old password stands in the record:\n%s\n%s", p.Request, p.Undo)
	}
	if !strings.Contains(p.Effect, "all its Pods are replaced") {
		t.Errorf("effect = %q", p.Effect)
	}
	image, _ := patch.Get(s.now(s.at("apps", "deployments", "web")), "/spec/template/spec/containers/1/image")
	if image != "app:2" {
		t.Errorf("image = %v", image)
	}
}

// TestPatchOfDerivedState refuses what another writer rewrote a moment ago, and
// not what a person wrote.
func TestPatchOfDerivedState(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "configmaps", name: "gate"})
	in := changeIn("configmap", "gate", uid, "patch", `[{op: replace, path: /data/a, value: "2"}]`)
	if p := s.preview(s.gate("kube/patch"), in); len(p.Unmet) > 0 {
		t.Fatalf("unmet = %s", unmetText(p))
	}
	s.must("PATCH", s.path("configmaps", "gate")+"?fieldManager=kubectl-edit", "application/merge-patch+json", `{"data":{"a":"person"}}`)
	if p := s.preview(s.gate("kube/patch"), in); len(p.Unmet) > 0 {
		t.Fatalf("what a person wrote: unmet = %s", unmetText(p))
	}
	s.must("PATCH", s.path("configmaps", "gate")+"?fieldManager=gatekeeper", "application/merge-patch+json", `{"data":{"a":"again"}}`)
	s.wrote("configmaps", "gate", "gatekeeper", time.Now().Add(5*time.Second)) // not what made it
	p := s.refused("kube/patch", in, "derived state")
	if !strings.Contains(unmetText(p), "gatekeeper") || !strings.Contains(p.Unmet[0].Cure, "kube/writers") {
		t.Errorf("unmet = %+v", p.Unmet)
	}
	// Another field of the same object does not matter.
	if p := s.preview(s.gate("kube/patch"), changeIn("configmap", "gate", uid, "patch", `[{op: add, path: /data/b, value: "2"}]`)); len(p.Unmet) > 0 {
		t.Errorf("another field: unmet = %s", unmetText(p))
	}
}
