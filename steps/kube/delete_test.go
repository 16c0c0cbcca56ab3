package kube

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/report"
)

// TestDelete deletes one object by name, UID and version; its children go in the
// background, and its namesake by label stays.
func TestDelete(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "jobs", name: "migrate", labels: map[string]string{"app": "a"}})
	bystander := s.make(thingMade{resource: "jobs", name: "migrate-2", labels: map[string]string{"app": "a"}})
	child := s.make(thingMade{resource: "configmaps", name: "child", owners: []any{map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": "migrate", "uid": uid}}})
	g, in := gateOf("kube/delete", s.env), deleteParams("jobs.batch", "migrate", uid)
	before := s.content("jobs", "migrate")
	armed := s.preview(g, in)
	if len(armed.Unmet) > 0 || armed.Phrase != "delete job/"+s.ns.Name+"/migrate" {
		t.Fatalf("unmet = %s, phrase = %q", unmetText(armed), armed.Phrase)
	}
	if len(armed.Diff) != 2 || !strings.Contains(armed.Diff[0], uid) || armed.Diff[1] != "- configmap/child, in the background" {
		t.Errorf("diff = %q", armed.Diff)
	}
	if !strings.Contains(armed.Request, `"preconditions":{"uid":"`+uid+`","resourceVersion":"`+act.Later+`"},"propagationPolicy":"Background"`) {
		t.Errorf("request = %s", armed.Request)
	}
	if !strings.Contains(armed.Command, "delete --raw /apis/batch/v1/") || !strings.Contains(armed.Command, uid) {
		t.Errorf("command = %s", armed.Command)
	}
	if len(armed.Owes) != 1 || armed.Owes[0].Kind != "reconcile" || !strings.Contains(armed.Undo, "new UID") {
		t.Errorf("owes = %v, undo = %q", armed.Owes, armed.Undo)
	}
	if s.content("jobs", "migrate") != before || len(s.writes()) != 0 {
		t.Fatalf("the preview changed the object: %v", s.writes())
	}
	s.merge("jobs", "migrate", `{"metadata":{"labels":{"beat":"1"}}}`)
	found, err := g.Find(t.Context(), slices.Concat(armed.Target, armed.Shown), in, &scrap{})
	if err != nil || found.Result != steps.Failed {
		t.Errorf("Find() before the act = %+v, %v, want failed", found, err)
	}
	fresh := s.preview(g, in)
	o, err := g.Act(t.Context(), s.confirm(fresh, armed.Digest("i", "s")), &scrap{})
	if err != nil || o.Result != steps.Done || steps.Find(o.After, act.KeyObject) != "gone" {
		t.Fatalf("Act() = %+v, %v, want done", o, err)
	}
	if w := s.writes(); len(w) != 1 || w[0].Verb != "delete" || w[0].ID != steps.Find(o.After, act.KeyAudit) {
		t.Errorf("writes = %+v", w)
	}
	if !strings.Contains(s.content("jobs", "migrate-2"), bystander) {
		t.Error("the other Job is not as it was")
	}
	for s.content("configmaps", "child") != "gone" { // the garbage collector works by itself
		if t.Context().Err() != nil {
			t.Fatalf("the child %s is still there", child)
		}
	}
	found, err = g.Find(t.Context(), slices.Concat(armed.Target, armed.Shown), in, &scrap{})
	if err != nil || found.Result != steps.Done {
		t.Errorf("Find() = %+v, %v, want done", found, err)
	}
}

// TestDeleteOfAPodWaitsForItsNode deletes what only a node can let go of.
func TestDeleteOfAPodWaitsForItsNode(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "pods", name: "web"})
	g, in := gateOf("kube/delete", s.env), deleteParams("pod", "web", uid)
	p, a := s.approve(g, in)
	if len(p.Diff) != 1 || !strings.Contains(p.Diff[0], "after its grace period of 30 s") {
		t.Errorf("diff = %q", p.Diff)
	}
	o, err := g.Act(t.Context(), a, &scrap{})
	if err != nil || o.Result != steps.Done || !strings.Contains(o.Response, "its node has 30 s") || steps.Find(o.After, act.KeyDeletion) == report.Nothing {
		t.Errorf("Act() = %+v, %v", o, err)
	}
	if p := s.preview(g, in); !strings.Contains(unmetText(p), "is being deleted already") {
		t.Errorf("unmet = %q", unmetText(p))
	}
	// A finalizer on it would not make it go at once.
	s.raw("PATCH", s.path("pods", "web"), "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
	s.must("DELETE", s.path("pods", "web"), cluster.AsJSON, `{"gracePeriodSeconds":0}`)
}
