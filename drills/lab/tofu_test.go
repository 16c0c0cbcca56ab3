//go:build unix

package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkTofu runs the real tofu on its kubernetes backend as the operator: the rights suffice, the state lands in the
// namespace, and each of its writes is in the audit log under the operator's name.
func checkTofu(t *testing.T, l *Lab) {
	ns, err := l.Namespace(t.Context(), "tofu")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.tf"), `
terraform {
  backend "kubernetes" {
    secret_suffix = "s"
  }
}
resource "terraform_data" "one" { input = "1" }
`)
	for _, args := range [][]string{{"init", "-input=false"}, {"apply", "-auto-approve", "-input=false"}} {
		cmd := exec.CommandContext(t.Context(), l.TofuPath(), args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"),
			"KUBE_CONFIG_PATH=" + ns.OperatorKubeconfig, "KUBE_NAMESPACE=" + ns.Name}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tofu %s: %v\n%s", args[0], err, out)
		}
	}
	events, err := l.AuditEvents(t.Context(), AuditFilter{Namespace: ns.Name, User: ns.Operator})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range events {
		seen[e.Verb+" "+e.Resource] = seen[e.Verb+" "+e.Resource] || e.Persists()
		if e.UserAgent == UserAgent && e.Persists() {
			t.Errorf("a write of the lab itself under the operator's name: %+v", e)
		}
	}
	for _, want := range []string{"create secrets", "create leases", "update leases"} {
		if !seen[want] {
			t.Errorf("the audit log lacks %q: %v", want, seen)
		}
	}
	version := exec.CommandContext(t.Context(), l.TofuPath(), "version")
	version.Env = []string{"HOME=" + dir} // the user may have a CLI configuration that tofu remarks on
	out, err := version.Output()
	if err != nil || !strings.HasPrefix(string(out), "OpenTofu v1.12.6\n") {
		t.Errorf("tofu version = %q, %v", out, err)
	}
}
