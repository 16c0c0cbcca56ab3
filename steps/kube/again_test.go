package kube

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
)

// again is the second look at an act that was done.
func (s *stage) again(kind string, p steps.Preview, in steps.Params) steps.Outcome {
	s.t.Helper()
	o, err := s.gate(kind).(steps.Rereader).Again(s.t.Context(), slices.Concat(p.Target, p.Shown), in, &scrap{})
	if err != nil {
		s.t.Fatalf("%s: Again() = %v", kind, err)
	}
	return o
}

// TestEveryGateIsLookedAfter: a gate without a second look would let a writer
// undo it unseen.
func TestEveryGateIsLookedAfter(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		if k.Changes == nil {
			continue
		}
		if _, can := k.Changes(steps.Env{}).(steps.Rereader); !can || k.Again != act.RereadAfter {
			t.Errorf("%s: its target is read again after %s, and it can tell: %v", k.Name, k.Again, can)
		}
	}
}

// TestUndoneIsSeen: another client undoes each act, or deletes its object.
func TestUndoneIsSeen(t *testing.T) {
	t.Parallel()
	const rbac = rbacAPI
	for _, tc := range []struct {
		name, kind string
		set        func(s *stage) steps.Params
		turn       func(s *stage, uid string)
		want, said string
	}{
		{"a patch put back", "kube/patch", func(s *stage) steps.Params {
			uid := s.make(thingMade{resource: "configmaps", name: "flags"})
			return changeIn("configmap", "flags", uid, "patch", `[{op: add, path: /data/mode, value: "on"}]`)
		}, func(s *stage, _ string) { s.merge("configmaps", "flags", `{"data":{"mode":"off"}}`) }, steps.Failed, "/data/mode"},
		{"a patch of what is written beside it", "kube/patch", func(s *stage) steps.Params {
			uid := s.make(thingMade{resource: "configmaps", name: "flags"})
			return changeIn("configmap", "flags", uid, "patch", `[{op: add, path: /data/mode, value: "on"}]`)
		}, func(s *stage, _ string) { s.merge("configmaps", "flags", `{"data":{"other":"x"}}`) }, steps.Done, "as the patch wants it"},
		{"a patch of what was deleted since", "kube/patch", func(s *stage) steps.Params {
			uid := s.make(thingMade{resource: "configmaps", name: "flags"})
			return changeIn("configmap", "flags", uid, "patch", `[{op: add, path: /data/mode, value: "on"}]`)
		}, func(s *stage, _ string) { s.must("DELETE", s.at("", "configmaps", "flags"), cluster.AsJSON, "") }, "unknown", "is gone"},
		{"a patch of what was made again", "kube/patch", func(s *stage) steps.Params {
			uid := s.make(thingMade{resource: "configmaps", name: "flags"})
			return changeIn("configmap", "flags", uid, "patch", `[{op: add, path: /data/mode, value: "on"}]`)
		}, func(s *stage, _ string) {
			s.must("DELETE", s.at("", "configmaps", "flags"), cluster.AsJSON, "")
			s.make(thingMade{resource: "configmaps", name: "flags"})
		}, "unknown", "created again"},
		{"a deleted object made again", "kube/delete", func(s *stage) steps.Params {
			return changeIn("configmap", "flags", s.make(thingMade{resource: "configmaps", name: "flags"}))
		}, func(s *stage, _ string) { s.make(thingMade{resource: "configmaps", name: "flags"}) }, steps.Failed, "was created again"},
		{"a deleted object that stays away", "kube/delete", func(s *stage) steps.Params {
			return changeIn("configmap", "flags", s.make(thingMade{resource: "configmaps", name: "flags"}))
		}, func(*stage, string) {}, steps.Done, "is gone by UID"},
		{"a binding given its old role", "kube/recreate", func(s *stage) steps.Params {
			s.allow(false, []string{rbac}, []string{"rolebindings"})
			s.role("migrate-v1", "get")
			s.role("migrate-v2", "get", "list")
			return changeIn("rolebinding", "migrate", s.binding("migrate", "migrate-v1", nil), "patch", toV2, "widens", "/roleRef")
		}, func(s *stage, _ string) {
			s.must("DELETE", s.at(rbac, "rolebindings", "migrate"), cluster.AsJSON, "")
			s.binding("migrate", "migrate-v1", nil)
		}, steps.Failed, "not as the patch wants it"},
		{"a binding that was taken away", "kube/recreate", func(s *stage) steps.Params {
			s.allow(false, []string{rbac}, []string{"rolebindings"})
			s.role("migrate-v1", "get")
			s.role("migrate-v2", "get", "list")
			return changeIn("rolebinding", "migrate", s.binding("migrate", "migrate-v1", nil), "patch", toV2, "widens", "/roleRef")
		}, func(s *stage, _ string) { s.must("DELETE", s.at(rbac, "rolebindings", "migrate"), cluster.AsJSON, "") }, "unknown", "not there any more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			in := tc.set(s)
			p, _ := s.acts(tc.kind, in, steps.Done)
			if o := s.again(tc.kind, p, in); o.Result != steps.Done {
				t.Errorf("before anybody turned it: %+v", o)
			}
			tc.turn(s, in.Text("uid"))
			if o := s.again(tc.kind, p, in); o.Result != tc.want || !strings.Contains(o.Response, tc.said) {
				t.Errorf("Again() = %+v, want %s: %q", o, tc.want, tc.said)
			}
		})
	}
}
