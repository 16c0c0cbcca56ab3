package stuck

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handrail/steps/kube/owner"
)

func TestKnownFinalizer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key     string
		Keeper  string
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
		if !ok || got.keeper != tc.Keeper || got.builtin != tc.builtin || !strings.Contains(got.leak, tc.leak) || got.nothing != (tc.leak == "") {
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
		all := rapid.SliceOf(rapid.SampledFrom([]Verdict{Alive, Dead, Unknown, ""})).Draw(rt, "seen")
		var seen []Sight
		count := map[Verdict]int{}
		for _, v := range all {
			seen = append(seen, Sight{Alive: v, Why: string(v)})
			count[v]++
		}
		want := Unknown
		switch {
		case count[Alive] > 0:
			want = Alive
		case len(all) > 0 && count[Dead] == len(all):
			want = Dead
		}
		if got := weigh(seen); got.Alive != want {
			rt.Fatalf("weigh(%v) = %s, want %s", all, got.Alive, want)
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
		p, err := ParsePlace(s, ns)
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

// TestFluxKeeper: each controller of Flux is asked for its own kinds.
func TestFluxKeeper(t *testing.T) {
	t.Parallel()
	row, _ := knownFinalizer("finalizers.fluxcd.io")
	for group, name := range map[string]string{owner.FluxKustomize: "kustomize-controller", owner.FluxHelm: "helm-controller", "source.toolkit.fluxcd.io": "source-controller"} {
		for _, other := range []string{"kustomize-controller", "helm-controller", "source-controller"} {
			o := objectFrom(t, fields{"metadata": fields{"name": other}})
			if k := row.forKind(group); k.is(o) != (other == name) || !k.touches(o) {
				t.Errorf("of %s: is(%s) = %v, touches = %v", group, other, k.is(o), k.touches(o))
			}
		}
	}
	if k := row.forKind("example.com"); k.is(objectFrom(t, fields{"metadata": fields{"name": "helm-controller"}})) {
		t.Error("a controller of Flux keeps objects of a stranger")
	}
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
