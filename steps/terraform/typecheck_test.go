package terraform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
)

// TestSilentUnification shows the damage on a real tofu: an entry more in a
// map(any) destroys what another entry had made, and the check says so before.
func TestSilentUnification(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", `resource "terraform_data" "first" {}`)
	if err := os.Mkdir(filepath.Join(w.dir, "child"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.lay("child/main.tf", `
variable "svc" { type = map(any) }
resource "terraform_data" "https" {
  for_each = { for k, v in var.svc : k => v if v.port == 443 }
  input    = each.key
}
`)
	call := func(entries string) {
		w.lay("main.tf", "module \"c\" {\n  source = \"./child\"\n  svc = { "+entries+" }\n}\n")
	}
	call(`a = { name = "a", port = 443 }`)
	w.run("init", "-input=false", "-no-color")
	w.run("apply", "-auto-approve", "-input=false")
	obs := w.probe("terraform/type-check", nil)
	if f := obs.Facts; f["loose"].Int() != 1 || len(f["mixed"].Table()) != 0 || f["consumers"].Known() {
		t.Errorf("before = %v %v", f, obs.Gaps)
	}
	call(`a = { name = "a", port = 443 }, b = { name = "b", port = "8443" }`)
	obs = w.probe("terraform/type-check", steps.Params{"key": text("port")})
	f := obs.Facts
	if !strings.Contains(f["mixed"].Table()["module.c.var.svc"], "port is number in a, string in b") || len(f["consumers"].Strings()) == 0 {
		t.Errorf("after = %v %v", f, obs.Gaps)
	}
	w.run("validate")
	w.run("plan", "-input=false", "-out=p")
	obs = w.probe("terraform/plan-file", steps.Params{"file": fileParam("p")})
	if obs.Facts["doomed"].Table()[`module.c.terraform_data.https["a"]`] == "" {
		t.Errorf("the plan dooms %v", obs.Facts["doomed"].Table())
	}
}
