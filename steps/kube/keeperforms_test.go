package kube

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func objectFrom(tb testing.TB, in fields) object {
	tb.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		tb.Fatal(err)
	}
	o, err := parseObject(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func TestKnownFinalizer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key     string
		keeper  string
		builtin bool
		leak    string
	}{
		{"kubernetes.io/pvc-protection", controllerManager, true, "storage"},
		{"foregroundDeletion", controllerManager + " (garbage collector)", true, "children"},
		{"external-attacher/ebs-csi-aws-com", "CSI attacher", false, "attached"},
		{"resources-finalizer.argocd.argoproj.io", argoController, false, "workloads stay"},
		{"resources-finalizer.argocd.argoproj.io/background", argoController, false, "workloads stay"},
		{"post-delete-finalizer.argocd.argoproj.io/cleanup", argoController, false, "after the deletion"},
		{"argocd.argoproj.io/hook-finalizer", argoController, false, ""},
		{"finalizers.fluxcd.io", "Flux", false, "applied"},
		{"gateway.k8s.aws/nlb", awsBalancer, false, "load balancers"},
		{"cnpg.io/deleteSubscription", "cloudnative-pg", false, "PostgreSQL"},
		{"finalizer.managedresource.crossplane.io", "Crossplane provider", false, "real cloud resource"},
	} {
		got, ok := knownFinalizer(tc.key)
		if !ok || got.keeper != tc.keeper || got.builtin != tc.builtin || !strings.Contains(got.leak, tc.leak) || got.nothing != (tc.leak == "") {
			t.Errorf("knownFinalizer(%q) = %+v, %v", tc.key, got, ok)
		}
	}
	for _, key := range []string{"", "example.com/hook-cleanup", "kubernetes.io/pvc-protection2", "Kubernetes", "resources-finalizer.argocd.argoproj.io.evil.com", "cnpg.io/delete"} {
		if got, ok := knownFinalizer(key); ok {
			t.Errorf("knownFinalizer(%q) = %+v, want it unknown", key, got)
		}
	}
	for _, k := range knownFinalizers() {
		if k.keeper == "" || (k.leak == "") != k.nothing || k.builtin == (len(k.stems)+len(k.near) > 0 || k.outside) || k.prefix != strings.HasSuffix(k.key, "/") {
			t.Errorf("row %q = %+v does not say who, what or where", k.key, k)
		}
	}
}

// TestWeigh: one that lives is enough, one that is unknown forbids death.
func TestWeigh(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOf(rapid.SampledFrom([]verdict{alive, dead, unknown, ""})).Draw(rt, "seen")
		var seen []sight
		count := map[verdict]int{}
		for _, v := range all {
			seen = append(seen, sight{alive: v, why: string(v)})
			count[v]++
		}
		want := unknown
		switch {
		case count[alive] > 0:
			want = alive
		case len(all) > 0 && count[dead] == len(all):
			want = dead
		}
		if got := weigh(seen); got.alive != want {
			rt.Fatalf("weigh(%v) = %s, want %s", all, got.alive, want)
		}
	})
}

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

func TestSameStem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"hook-x7z2k", "hook-b9vtw", true},
		{"backup-28912345", "backup-28912346", true},
		{"migrate-1a2b3c4-presync-1700000000", "migrate", true},
		{"hook-cleanup", "hook-cleanup-decoy", true},
		{"orphan-hook-a", "orphan-hook-b", true},
		{"api-6d4cf56db6-x7z2k", "api", true},
		{"api", "worker", false},
		{"api-one", "api-two", false},
		{"a", "ab", false},
		{"12345", "67890", false},
	} {
		if got := sameStem(tc.a, tc.b); got != tc.want || sameStem(tc.b, tc.a) != tc.want {
			t.Errorf("sameStem(%q, %q) = %v, want %v (stems %q, %q)", tc.a, tc.b, got, tc.want, nameStem(tc.a), nameStem(tc.b))
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

// FuzzPlace: what names a workload is one segment of a path each.
func FuzzPlace(f *testing.F) {
	for _, s := range []string{"deployment/a/b", "deployment/b", "pods/../x", "cronjob/a/b", "lease/a/b/c", "daemonset.apps/n", "deployment/a%2fb", "/", "deployment//x"} {
		f.Add(s, "ns")
	}
	f.Add("pod/x", "")
	f.Fuzz(func(t *testing.T, s, ns string) {
		p, err := parsePlace(s, ns)
		if err != nil {
			return
		}
		for _, part := range []string{p.namespace, p.name} {
			if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "/%?# ") {
				t.Errorf("parsePlace(%q, %q) = %v", s, ns, p)
			}
		}
	})
}

// FuzzFinalizer: no key of the table is known by more than it says.
func FuzzFinalizer(f *testing.F) {
	for _, k := range knownFinalizers() {
		f.Add(k.key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		k, ok := knownFinalizer(key)
		if ok && key != k.key && (!k.prefix || !strings.HasPrefix(key, k.key)) {
			t.Errorf("knownFinalizer(%q) = %+v", key, k)
		}
	})
}

// FuzzManagedFields: no set of fields of a stranger breaks the reader.
func FuzzManagedFields(f *testing.F) {
	f.Add([]byte(`{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/x\"":{}}}}`), "example.com/x")
	f.Add([]byte(`{"f:metadata":{"f:finalizers":{"v:{":{}}}}`), "x")
	f.Add([]byte(`{"k:{}":{}}`), "x")
	f.Add([]byte(`[`), "")
	f.Fuzz(func(t *testing.T, raw []byte, key string) {
		if ownsFinalizer(bytes.NewReader(raw), key) && !strings.Contains(string(raw), "finalizers") && !strings.Contains(string(raw), `\`) {
			t.Errorf("ownsFinalizer(%q, %q)", raw, key)
		}
	})
}
