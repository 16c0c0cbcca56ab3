package kube

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/cluster"
)

// without are the kinds that ask no cluster, or name their contexts themselves.
var without = []string{"kube/contexts", "kube/node-report", "kube/repair-order"}

// TestEveryReadTakesAContext: a kind that forgot it would read the incident's own
// cluster, whatever its step asks for.
func TestEveryReadTakesAContext(t *testing.T) {
	t.Parallel()
	file := kubeconfig(t, "https://127.0.0.1:1", "a", "b")
	signals := filepath.Join(t.TempDir(), "signals.yaml")
	if err := os.WriteFile(signals, []byte(signalsHead+"- {name: held, object: configmap/x, field: data.y, want: z}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := steps.Env{Kubeconfig: file, Context: "a", Now: time.Now, Home: t.TempDir()}
	for _, k := range Kinds() {
		takes := slices.ContainsFunc(k.Params, func(f steps.Field) bool { return f.Name == steps.ContextParam })
		if want := k.Reads != nil && !slices.Contains(without, k.Name); takes != want {
			t.Errorf("%s takes a context: %v, want %v", k.Name, takes, want)
		}
		if !takes {
			continue
		}
		// Each kind with what its own grammar wants of it, as far as it wants any.
		in := what("resource", "pods", "name", "x", "namespace", "default", "path", "/spec", "service", "x", "selector", "a=b", "verb", "get", "file", signals, steps.ContextParam, "c")
		_, err := k.Reads(env).Probe(t.Context(), in, newReadsSink())
		if err == nil || !strings.Contains(err.Error(), `context "c": the kubeconfig has no context "c"; it has "a", "b"`) {
			t.Errorf("%s in a context that does not exist: %v", k.Name, err)
		}
	}
}

func TestLoadNamesTheContextsThatExist(t *testing.T) {
	t.Parallel()
	file := kubeconfig(t, "https://one.example:6443", "a", "b")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("apiVersion: v1\nkind: Config\ncontexts: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		env  steps.Env
		want string
	}{
		{"no such context", steps.Env{Kubeconfig: file, Context: "prod"}, `the kubeconfig has no context "prod"; it has "a", "b"`},
		{"no file", steps.Env{Kubeconfig: file + ".not", Context: "a"}, "reading the kubeconfig"},
		{"broken file", steps.Env{Kubeconfig: broken, Context: "a"}, "reading the kubeconfig"},
	} {
		if _, err := cluster.Load(tc.env); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestFlagsAreOfTheOwnContext: --server or --token would lead every context to
// one cluster, and call it by another name.
func TestFlagsAreOfTheOwnContext(t *testing.T) {
	t.Parallel()
	file := kubeconfig(t, "https://one.example:6443", "a", "b")
	env := steps.Env{Kubeconfig: file, Context: "a", Namespace: "shop", Kubectl: []string{"--server=https://two.example", "--token=x", "--user=u", "--request-timeout=3s"}}
	own, err := cluster.Load(env.At("a"))
	if err != nil || own.Server != "https://two.example" {
		t.Fatalf("own context: %q, %v", own.Server, err)
	}
	other := env.At("b")
	got, err := cluster.Load(other)
	if err != nil || got.Server != "https://one.example:6443" || got.Config.Timeout != 3*time.Second || got.Namespace != "shop" || !other.Other {
		t.Errorf("another context: %+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"--request-timeout=3s"}, other.Kubectl); diff != "" {
		t.Error(diff)
	}
	if len(env.Kubectl) != 4 {
		t.Error("the flags of the operator were changed in place")
	}
}

// TestPinStandsInFrontOfEveryRequest: what the incident refuses is asked nothing
// but what it is, and a probe keeps nothing of it.
func TestPinStandsInFrontOfEveryRequest(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	signals := filepath.Join(t.TempDir(), "signals.yaml")
	if err := os.WriteFile(signals, []byte(signalsHead+"- {name: a, object: pod/x, present: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []steps.Cluster
	w.env.Pin = func(_ context.Context, c steps.Cluster) error {
		seen = append(seen, c)
		return &steps.PinError{Context: c.Context, Why: "it led elsewhere", Cure: "put it back"}
	}
	for _, k := range Kinds() {
		if k.Reads == nil || slices.Contains(without, k.Name) {
			continue
		}
		seen = nil
		in := what("resource", "pods", "name", "x", "namespace", w.ns.Name, "service", "x", "services", "x", "objects", "pods/x", "selector", "a=b", "verb", "get")
		if k.Name == "kube/signals" {
			in["file"] = steps.PathOf(signals)
		}
		obs, err := k.Reads(w.env).Probe(t.Context(), in, newReadsSink())
		if err == nil || len(obs.Facts) > 0 {
			t.Errorf("%s goes on in a cluster that was refused: %+v, %v", k.Name, obs, err)
		}
		if len(seen) == 0 {
			continue // it wants other parameters first
		}
		if !strings.Contains(err.Error(), "it led elsewhere; put it back") {
			t.Errorf("%s: %v", k.Name, err)
		}
		if c := seen[0]; !c.Own || c.Server != w.lab.URL() || c.CA == "" || c.User == "" || c.UID == "" && c.Unread == "" {
			t.Errorf("%s tells the incident %+v", k.Name, c)
		}
	}
}

// TestContextsTells lays two real clusters and two names of one side by side.
func TestContextsTells(t *testing.T) {
	t.Parallel()
	file, labs := twoLabs(t)
	env := steps.Env{Kubeconfig: file, Context: "a", Now: time.Now, Home: t.TempDir()}
	tell := func(env steps.Env, names ...string) steps.Observation {
		t.Helper()
		obs, err := readsProbe(t.Context(), env, "kube/contexts", steps.Params{"names": steps.StringsOf(names)}, newReadsSink())
		if err != nil {
			t.Fatal(err)
		}
		return obs
	}
	obs := tell(env, "b", "", "alias", "gone", "nobody", "b")
	same := map[string]string{"a": "same", "b": "other", "alias": "same", "gone": "unknown", "nobody": "unknown"}
	if diff := cmp.Diff(same, obs.Facts["same"].Table()); diff != "" {
		t.Error(diff)
	}
	uid := map[string]string{"a": labs[0].UID(), "alias": labs[0].UID(), "b": labs[1].UID()}
	if diff := cmp.Diff(uid, obs.Facts["uid"].Table()); diff != "" {
		t.Error(diff)
	}
	if n := obs.Facts["unread"].Strings(); len(n) != 2 || !strings.Contains(n[0], `gone: the kubeconfig has no context "gone"; it has "a", "alias", "b", "nobody"`) || !strings.Contains(n[1], "nobody: ") || len(obs.Gaps) != 2 {
		t.Errorf("unread = %q, gaps %q", n, obs.Gaps)
	}
	if len(obs.Findings) != 1 || !strings.Contains(obs.Findings[0].Say, "One cluster, 2 names: a, alias lead to") {
		t.Errorf("findings = %+v", obs.Findings)
	}
	// What an incident knows by that name was another cluster.
	env.Pin = func(_ context.Context, c steps.Cluster) error {
		if c.Context == "b" {
			return &steps.PinError{Context: "b", Why: "it led elsewhere", Cure: "put it back"}
		}
		return nil
	}
	obs = tell(env, "b")
	if obs.Facts["same"].Table()["b"] != "unknown" || obs.Facts["server"].Table()["b"] != "" || len(obs.Findings) != 1 || obs.Findings[0].Say != "One name, two clusters: it led elsewhere; put it back." {
		t.Errorf("a name that moved: %+v, %+v", obs.Facts, obs.Findings)
	}
	for _, bad := range []string{"-x", "a\x1bb"} {
		if _, err := readsProbe(t.Context(), env, "kube/contexts", steps.Params{"names": steps.StringsOf([]string{bad})}, newReadsSink()); err == nil {
			t.Errorf("%q is taken for a context", bad)
		}
	}
}

// TestFactsSayTheirContext reads two clusters at once with one kind.
func TestFactsSayTheirContext(t *testing.T) {
	t.Parallel()
	file, labs := twoLabs(t)
	env := steps.Env{Kubeconfig: file, Context: "a", Now: time.Now, Home: t.TempDir()}
	for i, name := range []string{"", "b"} {
		t.Run("context "+name, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				obs, err := readsProbe(t.Context(), env, "kube/get", what("resource", "namespace", "name", "kube-system", steps.ContextParam, name), newReadsSink())
				if err != nil || obs.Facts["uid"].Text() != labs[i].UID() || strings.HasPrefix(obs.Summary, "In context b: ") != (i == 1) ||
					!strings.Contains(obs.Command, "--context "+[]string{"a", "b"}[i]) {
					t.Fatalf("%+v, %v", obs, err)
				}
			}
		})
	}
}

// twoLabs are two real clusters in one kubeconfig: a and alias lead to the first,
// b to the second, nobody to an address where no server listens.
func twoLabs(t *testing.T) (file string, labs [2]*lab.Lab) {
	t.Helper()
	k := clientcmdapi.NewConfig()
	k.CurrentContext = "a"
	for i := range labs {
		opts, err := lab.ForTests("steps-kube-contexts")
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			opts.Dir, opts.Linger = opts.Dir+"-second", time.Minute
		}
		if labs[i], err = lab.Up(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = labs[i].Close() })
		raw, err := clientcmd.LoadFromFile(labs[i].Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		name := []string{"a", "b"}[i]
		k.Clusters[name], k.AuthInfos[name] = raw.Clusters[lab.ContextName], raw.AuthInfos[lab.ContextName]
		k.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	}
	k.Contexts["alias"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "a"}
	k.Clusters["nobody"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	k.Contexts["nobody"] = &clientcmdapi.Context{Cluster: "nobody", AuthInfo: "a"}
	file = filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*k, file); err != nil {
		t.Fatal(err)
	}
	return file, labs
}

// kubeconfig writes one of several contexts that lead to one server.
func kubeconfig(t *testing.T, server string, names ...string) string {
	t.Helper()
	var b strings.Builder
	current := names[0]
	if current == "" {
		names = names[1:]
	}
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Config\ncurrent-context: %q\nclusters:\n- {name: c, cluster: {server: %q}}\nusers:\n- {name: u, user: {token: s3cr3t-token}}\ncontexts:\n", current, server)
	for _, n := range names {
		fmt.Fprintf(&b, "- {name: %q, context: {cluster: c, user: u, namespace: %q}}\n", n, "ns-"+n)
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
