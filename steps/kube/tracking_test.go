package kube

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTrackingOfTarget(t *testing.T) {
	t.Parallel()
	job := target{resource: resource{group: "batch", kind: "Job", namespaced: true}, namespace: "prod", name: "hook"}
	role := target{resource: resource{group: "rbac.authorization.k8s.io", kind: "ClusterRole"}, name: "system:hook"}
	for _, tc := range []struct {
		mark string
		of   target
		want bool
	}{
		{"shop:batch/Job:prod/hook", job, true},
		{"apps_shop:batch/Job:prod/hook", job, true},
		{"shop:batch/Job:prod/hook2", job, false},
		{"shop:batch/Job:dev/hook", job, false},
		{"shop:/Job:prod/hook", job, false},
		{"shop:batch/CronJob:prod/hook", job, false},
		{"shop:rbac.authorization.k8s.io/ClusterRole:prod/system:hook", role, true},
		{"shop:rbac.authorization.k8s.io/ClusterRole:/system:hook", role, true},
	} {
		id, err := parseTracking(tc.mark)
		if err != nil || id.String() != tc.mark || id.of(tc.of) != tc.want {
			t.Errorf("%q: %+v, %v, of(%s) = %v, want %v", tc.mark, id, err, tc.of, id.of(tc.of), tc.want)
		}
	}
	if got := inventoryID(target{resource: resource{group: "rbac.authorization.k8s.io", kind: "ClusterRole"}, name: "a:b"}); got != "_a__b_rbac.authorization.k8s.io_ClusterRole" {
		t.Errorf("inventoryID() = %q", got)
	}
}

func TestMarkersOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		meta    fields
		want    markers
		managed string
	}{
		{"bare", fields{}, markers{}, ""},
		{"hook without a policy", fields{"annotations": fields{argoHook: "PreSync"}}, markers{hook: "argocd PreSync"}, ""},
		{"hook with one", fields{"annotations": fields{argoHook: "PreSync", argoPolicy: "HookSucceeded"}},
			markers{hook: "argocd PreSync", policy: "HookSucceeded"}, "HookSucceeded"},
		{"helm hook", fields{"annotations": fields{helmHook: "pre-install", helmPolicy: "hook-succeeded"}},
			markers{hook: "helm pre-install", policy: "hook-succeeded"}, "hook-succeeded"},
		{"owner", fields{"labels": fields{"team.example.com/Owned-By": "payments"}},
			markers{ownerLabel: "team.example.com/Owned-By", ownerValue: "payments"}, "payments"},
		{"owner of nobody", fields{"labels": fields{"owner": ""}}, markers{}, ""},
		{"not an owner", fields{"labels": fields{"co-owner": "x", "owner.example.com/x": "y"}}, markers{}, ""},
		{"release", fields{"namespace": "a", "labels": fields{labelManager: "Helm"}, "annotations": fields{helmRelease: "r"}},
			markers{managedBy: "Helm", release: "a/r"}, ""},
		{"release of another manager", fields{"labels": fields{labelManager: "x"}, "annotations": fields{helmRelease: "r"}}, markers{managedBy: "x"}, ""},
	} {
		m := markersOf(objectFrom(t, fields{"metadata": tc.meta}))
		if d := cmp.Diff(tc.want, m, cmp.AllowUnexported(markers{})); d != "" {
			t.Errorf("%s: markersOf() differs (-want +got):\n%s", tc.name, d)
		}
		if why, is := m.managed(); is != (tc.managed != "") || !strings.Contains(why, tc.managed) {
			t.Errorf("%s: managed() = %q, %v", tc.name, why, is)
		}
	}
}

// FuzzTracking: what is read as a mark is written back as it was.
func FuzzTracking(f *testing.F) {
	for _, s := range []string{"shop:batch/Job:prod/hook", "apps_shop:/Pod:prod/x", "a:b/c:/d:e", "::", "a_b_c:d/e:f/g", "a:/:/", "\x00:a/b:c/d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := parseTracking(s)
		if err == nil && id.String() != s {
			t.Errorf("parseTracking(%q).String() = %q", s, id)
		}
		if err == nil && (id.app == "" || id.kind == "" || id.name == "") {
			t.Errorf("parseTracking(%q) = %+v", s, id)
		}
	})
}
