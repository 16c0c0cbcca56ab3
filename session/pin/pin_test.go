package pin

import (
	"strings"
	"testing"

	"handrail/steps"
)

// TestJudge holds each change of a kubeconfig against what the incident knows.
func TestJudge(t *testing.T) {
	t.Parallel()
	a := steps.Cluster{Context: "a", Own: true, Server: "https://a:6443", UID: "uid-a", User: "ana", CA: "ca-a"}
	b := steps.Cluster{Context: "b", Server: "https://b:6443", UID: "uid-b", User: "ana", CA: "ca-b"}
	blind := steps.Cluster{Context: "blind", Server: "https://c:6443", Unread: "forbidden", User: "ana", CA: "ca-c"}
	p := Pins{own: &a, byName: map[string]steps.Cluster{"a": a, "b": b, "blind": blind}}
	with := func(c steps.Cluster, change func(*steps.Cluster)) steps.Cluster { change(&c); return c }
	for _, tc := range []struct {
		name string
		seen steps.Cluster
		want string // "" where it is agreed to
	}{
		{"as it was", a, ""},
		{"another user", with(a, func(c *steps.Cluster) { c.User = "eve" }), ""},
		{"another authority, the same UID", with(a, func(c *steps.Cluster) { c.CA = "new" }), ""},
		{"another server", with(a, func(c *steps.Cluster) { c.Server = "https://b:6443" }), `context "a" led to https://a:6443 (cluster UID uid-a) when this incident first used it, and now to https://b:6443 (cluster UID uid-a) (another server); its UID says it is the same cluster at another address; no other request was sent there; put the address back, or, if the new one is meant, enter it as a context of another name and go on with --context and that name`},
		{"another server and cluster", with(a, func(c *steps.Cluster) { c.Server, c.UID = b.Server, b.UID }), `; no other request was sent there; put the kubeconfig back, or look at the other cluster in an incident of its own`},
		{"another cluster behind the server", with(a, func(c *steps.Cluster) { c.UID = "uid-b" }), "another cluster behind the same server"},
		{"UID not readable any more", with(a, func(c *steps.Cluster) { c.UID, c.Unread = "", "forbidden" }), ""},
		{"UID not readable, and not vouched for", with(a, func(c *steps.Cluster) { c.UID, c.CA, c.Unread = "", "", "forbidden" }), "unknown"},
		{"UID not readable, another authority", with(a, func(c *steps.Cluster) { c.UID, c.CA = "", "new" }), "unknown"},
		{"another context, as it was", b, ""},
		{"another context moved", with(b, func(c *steps.Cluster) { c.Server = a.Server; c.UID = a.UID }), `context "b" led to`},
		{"a new name", steps.Cluster{Context: "new", Server: "https://d", UID: "uid-d"}, ""},
		{"the own one under a new name", with(a, func(c *steps.Cluster) { c.Context = "ax" }), ""},
		{"the own one by another address", with(a, func(c *steps.Cluster) { c.Context, c.Server = "ax", "https://bastion" }), ""},
		{"another one as the own", with(b, func(c *steps.Cluster) { c.Own = true }), `this incident is about context "a", https://a:6443 (cluster UID uid-a), and "b" leads to https://b:6443`},
		{"never read, still not", blind, ""},
		{"never read, now it is", with(blind, func(c *steps.Cluster) { c.UID, c.Unread = "uid-c", "" }), ""},
		{"never read, another authority", with(blind, func(c *steps.Cluster) { c.CA = "new" }), "its UID was never read"},
		{"another proxy, the same UID", with(a, func(c *steps.Cluster) { c.Way = "proxy http://p:3128" }), ""},
		{"another proxy, UID not readable any more", with(a, func(c *steps.Cluster) { c.UID, c.Unread, c.Way = "", "forbidden", "proxy http://p:3128" }), "by another way, proxy http://p:3128 instead of no proxy"},
		{"another proxy, UID never read", with(blind, func(c *steps.Cluster) { c.Way = "proxy http://p:3128" }), "by another way"},
		{"another proxy, UID read now", with(blind, func(c *steps.Cluster) { c.UID, c.Way = "uid-c", "proxy http://p:3128" }), "by another way"},
		{"another name in the certificate, UID never read", with(blind, func(c *steps.Cluster) { c.Way = "as inner" }), "by another way"},
		{"the own one, not readable, under a new name and address", with(a, func(c *steps.Cluster) { c.Context, c.Server, c.UID = "ax", "https://bastion", "" }), "another server"},
	} {
		err := p.Judge(tc.seen)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
