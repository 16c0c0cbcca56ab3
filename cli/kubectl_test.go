package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/cli/process"
)

// TestFlagsReachTheSteps: what was given is passed on, what was not is left to
// the kubeconfig, and what has a field is in it.
func TestFlagsReachTheSteps(t *testing.T) {
	t.Parallel()
	p := &process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now}
	root := newRoot(p)
	root.SetArgs([]string{"version", "--as", "ana", "--as-group=a,b", "--as-group", "c", "--insecure-skip-tls-verify", "--token=s3cret",
		"--proxy-url", "http://me:hunter2@127.0.0.1:3128", "--context", "prod", "-n", "namespaces/shop", "--kubeconfig", "here"})
	root.SetOut(io.Discard)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	env, err := stepEnv(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--as=ana", "--as-group=a,b", "--as-group=c", "--insecure-skip-tls-verify=true", "--proxy-url=http://me:hunter2@127.0.0.1:3128", "--token=s3cret"}
	if diff := cmp.Diff(want, env.Kubectl); diff != "" {
		t.Errorf("Env.Kubectl (-want +got):\n%s", diff)
	}
	if env.Context != "prod" || env.Namespace != "shop" || env.Kubeconfig != "here" {
		t.Errorf("Env = %q, %q, %q", env.Context, env.Namespace, env.Kubeconfig)
	}
	if diff := cmp.Diff([]string{"hunter2", "s3cret"}, p.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}
