package owner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps/cluster"
)

func TestTrackingOfTarget(t *testing.T) {
	t.Parallel()
	job := cluster.Target{Resource: cluster.Resource{Group: "batch", Kind: "Job", Namespaced: true}, Namespace: "prod", Name: "hook"}
	role := cluster.Target{Resource: cluster.Resource{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, Name: "system:hook"}
	for _, tc := range []struct {
		mark string
		of   cluster.Target
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
		id, err := ParseTracking(tc.mark)
		if err != nil || id.String() != tc.mark || id.Of(tc.of) != tc.want {
			t.Errorf("%q: %+v, %v, of(%s) = %v, want %v", tc.mark, id, err, tc.of, id.Of(tc.of), tc.want)
		}
	}
	if got := inventoryID(cluster.Target{Resource: cluster.Resource{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, Name: "a:b"}); got != "_a__b_rbac.authorization.k8s.io_ClusterRole" {
		t.Errorf("inventoryID() = %q", got)
	}
}

func TestMarkersOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		meta    fields
		want    Markers
		managed string
	}{
		{"bare", fields{}, Markers{}, ""},
		{"hook without a policy", fields{"annotations": fields{argoHook: "PreSync"}}, Markers{Hook: "argocd PreSync"}, ""},
		{"hook with one", fields{"annotations": fields{argoHook: "PreSync", argoPolicy: "HookSucceeded"}},
			Markers{Hook: "argocd PreSync", Policy: "HookSucceeded"}, "HookSucceeded"},
		{"helm hook", fields{"annotations": fields{helmHook: "pre-install", helmPolicy: "hook-succeeded"}},
			Markers{Hook: "helm pre-install", Policy: "hook-succeeded"}, "hook-succeeded"},
		{"owner", fields{"labels": fields{"team.example.com/Owned-By": "payments"}},
			Markers{OwnerLabel: "team.example.com/Owned-By", OwnerValue: "payments"}, "payments"},
		{"empty owner", fields{"labels": fields{"owner": ""}}, Markers{}, ""},
		{"not an owner", fields{"labels": fields{"co-owner": "x", "owner.example.com/x": "y"}}, Markers{}, ""},
		{"release", fields{"namespace": "a", "labels": fields{labelManager: "Helm"}, "annotations": fields{HelmRelease: "r"}},
			Markers{ManagedBy: "Helm", Release: "a/r"}, ""},
		{"release of another manager", fields{"labels": fields{labelManager: "x"}, "annotations": fields{HelmRelease: "r"}}, Markers{ManagedBy: "x"}, ""},
	} {
		m := MarkersOf(objectFrom(t, fields{"metadata": tc.meta}))
		if d := cmp.Diff(tc.want, m, cmp.AllowUnexported(Markers{})); d != "" {
			t.Errorf("%s: markersOf() differs (-want +got):\n%s", tc.name, d)
		}
		if why, is := m.Managed(); is != (tc.managed != "") || !strings.Contains(why, tc.managed) {
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
		id, err := ParseTracking(s)
		if err == nil && id.String() != s {
			t.Errorf("parseTracking(%q).String() = %q", s, id)
		}
		if err == nil && (id.App == "" || id.kind == "" || id.name == "") {
			t.Errorf("parseTracking(%q) = %+v", s, id)
		}
	})
}
