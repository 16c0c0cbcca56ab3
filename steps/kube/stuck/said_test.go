package stuck

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"handrail/steps/cluster"
)

func TestNamespaceBlocker(t *testing.T) {
	t.Parallel()
	said := func(pairs ...string) cluster.Object {
		list := []any{fields{"type": "NamespaceContentRemaining", "status": "False"}}
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, fields{"type": pairs[i], "status": "True", "message": pairs[i+1]})
		}
		return objectFrom(t, fields{"kind": "Namespace", "metadata": fields{"name": "n", "deletionTimestamp": "2026-01-02T03:04:05Z"},
			"status": fields{"conditions": list}})
	}
	const (
		discovery = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
		webhook   = `Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://s.n.svc:443/?timeout=10s": no endpoints available for service "s"`
	)
	for _, tc := range []struct {
		name string
		o    cluster.Object
		want string
	}{
		{"discovery before all", said("NamespaceDeletionDiscoveryFailure", discovery, "NamespaceFinalizersRemaining", "x", "NamespaceContentRemaining", "y"), "discovery"},
		{"unparsable version", said("NamespaceDeletionGroupVersionParsingFailure", "x"), "discovery"},
		{"webhook", said("NamespaceDeletionContentFailure", webhook), "webhook"},
		{"finalizers", said("NamespaceFinalizersRemaining", "example.com/guard in 1 resource instances", "NamespaceContentRemaining", "configmaps. has 1 resource instances"), "finalizer"},
		{"other failure", said("NamespaceDeletionContentFailure", "Failed to delete all resource types, 1 remaining: the server is busy"), "content"},
		{"content", said("NamespaceContentRemaining", "pods. has 3 resource instances"), "content"},
		{"all gone", said(), "none"},
		{"not said yet", objectFrom(t, fields{"metadata": fields{"deletionTimestamp": "2026-01-02T03:04:05Z"}}), ""},
	} {
		is, why := blocker(cluster.Target{Resource: cluster.Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"}, Name: "n"}, tc.o)
		if is != tc.want || (is == "") != (why != "") {
			t.Errorf("%s: blocker() = %q, %q, want %q", tc.name, is, why, tc.want)
		}
	}
}

// TestSaidRefusals reads the texts of real servers.
func TestSaidRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ message, want, cause string }{
		{`Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://s.n.svc:443/?timeout=10s": no endpoints available for service "s"`, "webhook w.example.com", "no Pod that is ready"},
		{`Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://s.n.svc:443/": service "s" not found`, "webhook w.example.com", "uninstalled"},
		{`failed calling webhook "w": failed to call webhook: Post "https://s.n.svc:443/": dial tcp 10.0.0.1:443: connect: connection refused`, "webhook w", "process is gone"},
		{`failed calling webhook "w": failed to call webhook: Post "https://s.n.svc:443/": context deadline exceeded`, "webhook w", "in time"},
		{`failed calling webhook "w": failed to call webhook: Post "https://s.n.svc:443/": tls: failed to verify certificate: x509: certificate has expired`, "webhook w", "certificate"},
		{`failed calling webhook "w": failed to call webhook: the server could not find the requested resource`, "webhook w", "another version"},
		{`admission webhook "keep.example.com" denied the request: not while the invoice runs`, "webhook keep.example.com", "not while the invoice runs"},
		{`configmaps "v1" is forbidden: ValidatingAdmissionPolicy 'P' with binding 'B' denied request: no`, "validatingadmissionpolicy/P (binding B)", "said no"},
		{`the server is busy`, "", ""},
	} {
		var names, causes []string
		for _, r := range saidRefusals(tc.message) {
			names, causes = append(names, r.String()), append(causes, r.cause())
		}
		if got := strings.Join(names, ","); !strings.HasPrefix(got, tc.want) || (tc.want == "") != (got == "") {
			t.Errorf("%s: refused by %q, want %q", tc.message, got, tc.want)
		}
		if got := strings.Join(causes, ","); !strings.Contains(got, tc.cause) {
			t.Errorf("%s: cause %q, want %q", tc.message, got, tc.cause)
		}
	}
}

// TestSaidCounts reads what the namespace controller says is left.
func TestSaidCounts(t *testing.T) {
	t.Parallel()
	left := saidRemaining(Condition{Status: "True", message: "Some resources are remaining: applications.argoproj.io has 1 resource instances, configmaps. has 12 resource instances"})
	if fmt.Sprint(left) != "map[applications.argoproj.io:1 configmaps:12]" {
		t.Errorf("remaining = %v", left)
	}
	held := saidHolders(Condition{Status: "True", message: "Some content in the namespace has finalizers remaining: example.com/guard in 1 resource instances, x.y/z in 2 resource instances"})
	if fmt.Sprint(held) != "map[example.com/guard:1 x.y/z:2]" {
		t.Errorf("holders = %v", held)
	}
	if n := len(saidRemaining(Condition{Status: "False", message: "configmaps. has 12 resource instances"})); n != 0 {
		t.Errorf("a condition that is false names %d", n)
	}
}

// FuzzSaid: no text of a server makes more of itself than it is.
func FuzzSaid(f *testing.F) {
	f.Add([]byte(`failed calling webhook "w": failed to call webhook: Post "https://s.n.svc:443/": service "s" not found`))
	f.Add([]byte("configmaps. has 99999999999999999999 resource instances, a in 1 resource instances"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		message := string(raw)
		for _, r := range saidRefusals(message) {
			if r.cause() == "" || !bytes.Contains(raw, []byte(r.name)) {
				t.Errorf("%q names %+v", raw, r)
			}
		}
		for name, n := range saidRemaining(Condition{Status: "True", message: message}) {
			if n < 0 || !strings.Contains(message, name) {
				t.Errorf("%q has %d of %q", raw, n, name)
			}
		}
	})
}
