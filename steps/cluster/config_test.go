package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"handrail/steps"
)

// kubeconfig writes a file with one context for each name; the first is
// current, none where it is "".
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

func TestLoad(t *testing.T) {
	t.Parallel()
	one, two := kubeconfig(t, "https://one.example:6443", "a", "b"), kubeconfig(t, "https://two.example:6443", "d")
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".kube", "config"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "none")
	list := func(paths ...string) []string {
		return []string{"KUBECONFIG=" + strings.Join(paths, string(os.PathListSeparator))}
	}
	for _, tc := range []struct {
		name                       string
		env                        steps.Env
		context, namespace, server string
	}{
		{"file by flag", steps.Env{Kubeconfig: one, Environ: list(two)}, "a", "ns-a", "https://one.example:6443"},
		{"KUBECONFIG", steps.Env{Environ: list(two), Home: home}, "d", "ns-d", "https://two.example:6443"},
		{"first of a list wins, missing files are passed by", steps.Env{Environ: list(missing, one, two)}, "a", "ns-a", "https://one.example:6443"},
		{"context of the second of a list", steps.Env{Environ: list(one, two), Context: "d"}, "d", "ns-d", "https://one.example:6443"},
		{"home", steps.Env{Home: home}, "d", "ns-d", "https://two.example:6443"},
		{"context", steps.Env{Kubeconfig: one, Context: "b"}, "b", "ns-b", "https://one.example:6443"},
		{"context by kubectl's flag", steps.Env{Kubeconfig: one, Kubectl: []string{"--context=b"}}, "b", "ns-b", "https://one.example:6443"},
		{"namespace", steps.Env{Kubeconfig: one, Namespace: "other"}, "a", "other", "https://one.example:6443"},
		{"server by flag", steps.Env{Kubeconfig: one, Kubectl: []string{"--server=http://127.0.0.1:1"}}, "a", "ns-a", "http://127.0.0.1:1"},
		{"server alone", steps.Env{Kubectl: []string{"--server=http://127.0.0.1:1"}}, "", "default", "http://127.0.0.1:1"},
		{"server without scheme", steps.Env{Kubectl: []string{"--server=127.0.0.1:1"}}, "", "default", "http://127.0.0.1:1"},
		{"server behind a prefix", steps.Env{Kubectl: []string{"--server=https://proxy.example/k8s/c1"}}, "", "default", "https://proxy.example/k8s/c1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a, err := Load(tc.env)
			if err != nil || a.Context != tc.context || a.Namespace != tc.namespace || a.Server != tc.server {
				t.Errorf("Load() = %q %q %q, %v; want %q %q %q", a.Context, a.Namespace, a.Server, err, tc.context, tc.namespace, tc.server)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	one := kubeconfig(t, "https://one.example:6443", "a")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("contexts: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		env  steps.Env
		want string
		is   error
	}{
		{"nothing at all", steps.Env{Home: t.TempDir()}, "", ErrNoCluster},
		{"no home", steps.Env{}, "", ErrNoCluster},
		{"file by flag is missing", steps.Env{Kubeconfig: filepath.Join(t.TempDir(), "none")}, "none", nil},
		{"broken file", steps.Env{Kubeconfig: broken}, "reading the kubeconfig", nil},
		{"unknown context", steps.Env{Kubeconfig: one, Context: "nope"}, "nope", nil},
		{"no current context", steps.Env{Kubeconfig: kubeconfig(t, "https://one.example", "", "x")}, "no current context", nil},
		{"password in the address", steps.Env{Kubectl: []string{"--server=https://joe:hunter2@one.example"}}, "password", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a, err := Load(tc.env)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Load() = %+v, %v; want %q %v", a, err, tc.want, tc.is)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}

// TestCommandHoldsNoSecret: what a person may paste into a chat names the
// cluster, and no credential.
func TestCommandHoldsNoSecret(t *testing.T) {
	t.Parallel()
	env := steps.Env{Kubeconfig: kubeconfig(t, "https://one.example:6443", "it's"), Home: t.TempDir(), Now: time.Now, Kubectl: []string{
		"--token=hunter2", "--password=hunter2", "--username=joe", "--user=u", "--as=boss", "--proxy-url=http://joe:hunter2@proxy.example:1"}}
	env.Kubectl = env.Kubectl[3:] // client-go refuses a token beside a password; the command sees each below
	c, err := Connect(env, &secrets{})
	if err != nil {
		t.Fatal(err)
	}
	c.Env.Kubectl = append([]string{"--token=hunter2", "--password=hunter2", "--username=joe"}, c.Env.Kubectl...)
	got := c.Kubectl("my ns", "get", "cm", "a;b")
	for _, bad := range []string{"hunter2", "joe", "s3cr3t", "--token", "--password"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q holds %q", got, bad)
		}
	}
	if want := `--context 'it'\''s' --user=u --as=boss -n 'my ns' get cm 'a;b'`; !strings.HasSuffix(got, want) {
		t.Errorf("command = %s, want %s at its end", got, want)
	}
}

// TestSecretsAreNamed: the credentials are told to the sink before anything is
// asked of the server.
func TestSecretsAreNamed(t *testing.T) {
	t.Parallel()
	sink := &secrets{}
	if _, err := Connect(steps.Env{Kubeconfig: kubeconfig(t, "https://one.example", "a"), Now: time.Now}, sink); err != nil {
		t.Fatal(err)
	}
	if len(sink.all) != 1 || sink.all[0] != "s3cr3t-token" {
		t.Errorf("secrets = %q", sink.all)
	}
}

func TestFlagsAreKubectls(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	o := Flags(fs)
	if err := fs.Parse([]string{"-n", "web", "--context=c", "--as=joe", "--server=https://x", "--token=t"}); err != nil {
		t.Fatal(err)
	}
	if o.Context.Namespace != "web" || o.CurrentContext != "c" || o.AuthInfo.Impersonate != "joe" || o.ClusterInfo.Server != "https://x" {
		t.Errorf("overrides = %+v", o)
	}
	if _, err := Load(steps.Env{Kubectl: []string{"--no-such-flag=1"}}); err == nil || !strings.Contains(err.Error(), "kubectl's flags") {
		t.Errorf("unknown flag: %v", err)
	}
}

// secrets keeps what is never to be stored.
type secrets struct {
	steps.SecretsOnly
	all []string
}

func (s *secrets) Secret(v string) { s.all = append(s.all, v) }
