package helm

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps/cluster"
)

func meta(t *testing.T, name string, labels map[string]string) cluster.Object {
	t.Helper()
	o, err := cluster.ParseObject([]byte(`{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "` + name + `", "creationTimestamp": "2026-01-05T02:00:00Z"}}`))
	if err != nil {
		t.Fatal(err)
	}
	o.SetLabels(labels)
	return o
}

func TestRecordOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		labels map[string]string
		want   string
		err    string
	}{
		{map[string]string{"version": "7", "status": "pending-upgrade"}, "revision 7 is pending-upgrade", ""},
		{map[string]string{"version": "1", "status": "deployed"}, "revision 1 is deployed", ""},
		{map[string]string{"version": "0", "status": "deployed"}, "", "no revision"},
		{map[string]string{"version": "-2", "status": "deployed"}, "", "no revision"},
		{map[string]string{"version": "99999999999999999999", "status": "deployed"}, "", "no revision"},
		{map[string]string{"status": "deployed"}, "", "no revision"},
		{map[string]string{"version": "7"}, "", "does not know"},
		{map[string]string{"version": "7", "status": "Deployed"}, "", "does not know"},
	} {
		r, err := recordOf(storages()[0], meta(t, "sh.helm.release.v1.shop.v7", tc.labels))
		if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) || err == nil && r.String() != tc.want {
			t.Errorf("recordOf(%v) = %v, %v", tc.labels, r, err)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	of := func(n int64, status string) record { return record{revision: n, status: status} }
	h := newHistory([]record{of(9, "superseded"), of(11, "pending-upgrade"), of(10, "deployed")})
	if d, ok := h.deployed(); !ok || d.revision != 10 || !h[0].pending() || h[0].revision != 11 || len(h.twice()) != 0 {
		t.Errorf("history is %v, deployed %v", h, d)
	}
	if _, ok := newHistory([]record{of(1, "pending-install")}).deployed(); ok {
		t.Error("a first install that hangs is in force")
	}
	if two := newHistory([]record{of(3, "deployed"), of(3, "pending-upgrade"), of(2, "superseded")}).twice(); !slices.Equal(two, []int64{3}) {
		t.Errorf("recorded twice: %v", two)
	}
	for _, s := range statuses() {
		if got := of(1, s).pending(); got != strings.HasPrefix(s, "pending") {
			t.Errorf("%s is pending: %v", s, got)
		}
	}
	if lines := newHistory([]record{of(1, "superseded"), of(2, "superseded"), of(3, "deployed")}).lines(2); len(lines) != 3 || !strings.Contains(lines[2], "1 older") {
		t.Errorf("lines are %q", lines)
	}
}

// TestOwns: where the spec leaves names out, the controller makes them up.
func TestOwns(t *testing.T) {
	t.Parallel()
	h := func(name, ns, release, target, storage, seen string) helmRelease {
		var h helmRelease
		h.Metadata.Name, h.Metadata.Namespace = name, ns
		h.Spec.ReleaseName, h.Spec.TargetNamespace, h.Spec.StorageNamespace, h.Status.StorageNamespace = release, target, storage, seen
		return h
	}
	for _, tc := range []struct {
		h    helmRelease
		want bool
	}{
		{h("shop", "apps", "", "", "", ""), true},
		{h("shop", "flux-system", "", "apps", "apps", ""), false}, // it is apps-shop
		{h("x", "flux-system", "shop", "apps", "apps", ""), true},
		{h("x", "flux-system", "shop", "apps", "", ""), false}, // its records are in flux-system
		{h("x", "flux-system", "shop", "", "other", "apps"), true},
		{h("shop", "other", "", "", "", ""), false},
	} {
		if got := tc.h.owns("shop", "apps"); got != tc.want {
			t.Errorf("%s/%s owns it: %v", tc.h.Metadata.Namespace, tc.h.Metadata.Name, got)
		}
	}
}
