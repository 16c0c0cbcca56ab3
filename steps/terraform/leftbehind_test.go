package terraform

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"handrail/steps"
)

// busyBelow has a provisioner whose children outlive it: one where the run works,
// one in the folder above with a data directory that no run uses, one that went to the
// root. Each is there before the pipe is read.
const busyBelow = `
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "busy" {
  depends_on = [terraform_data.a]
  provisioner "local-exec" {
    command = "(exec sleep 600) & (cd .. && exec sleep 600) & (cd / && exec sleep 600) & cat pipe"
  }
}
`

// TestChildrenOfAKilledApply kills a real tofu under the children of its
// provisioner, one folder below where another root module uses the same state:
// from both, every gate that writes or applies stays shut until the last of them
// has ended.
func TestChildrenOfAKilledApply(t *testing.T) {
	t.Parallel()
	w := newBackend(t, "local", "", "")
	below := filepath.Join(w.dir, "workspace")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	above := w.dir
	block := "path = \"" + filepath.Join(above, "shared.tfstate") + "\""
	w.write("local", block, busyBelow)
	w.run("init", "-input=false", "-no-color", "-reconfigure")
	w.dir = below
	w.write("local", block, busyBelow)
	w.run("init", "-input=false", "-no-color")
	w.run("apply", "-auto-approve", "-input=false", "-target=terraform_data.a")
	if err := syscall.Mkfifo(filepath.Join(below, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(w.tofu, "apply", "-auto-approve", "-input=false")
	cmd.Dir, cmd.Env = below, w.bot
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endKilled(t, cmd.Process.Pid) })
	end, err := os.OpenFile(filepath.Join(below, "pipe"), os.O_WRONLY, 0) // opens once it is read
	if err != nil {
		t.Fatal(err)
	}
	w.killTool(cmd)
	if err := end.Close(); err != nil { // cat ends, and its shell with it
		t.Fatal(err)
	}

	for _, dir := range []string{below, above} {
		w.env.Dir = dir
		holder := w.probe("terraform/holder", steps.Params{"who": text(w.env.User + "@" + w.env.Host)})
		if holder.Facts["orphans"].Int() < 3 || holder.Facts["alive"].Known() {
			t.Errorf("from %s: holder = %v %v, want three children and unknown", dir, holder.Facts, holder.Findings)
		}
		for kind, in := range map[string]steps.Params{
			"state-rm":      addressParams("terraform_data.a"),
			"state-mv":      {"from": text("terraform_data.a"), "to": text("terraform_data.z")},
			"import":        {"address": text("terraform_data.busy"), "id": text("x")},
			"restore-state": {"file": steps.PathOf(filepath.Join(above, "shared.tfstate.backup"))},
			"apply-plan":    {"plan": steps.PathOf(filepath.Join(above, "no.plan")), "digest": steps.IdentOf("00")},
			"force-unlock":  {"lock_id": steps.IdentOf("x")},
		} {
			said := unmet(w.shows(kind, in))
			// A lock that is free is refused before anybody asks for its holder.
			if want := "is what a run left behind"; kind != "force-unlock" && !strings.Contains(said, want) || said == "" {
				t.Errorf("from %s: %s is shut by %q, want %q among it", dir, kind, said, want)
			}
		}
	}
	endKilled(t, cmd.Process.Pid)
	w.env.Dir = above
	if p := w.shows("state-rm", addressParams("terraform_data.a")); len(p.Unmet) > 0 {
		t.Errorf("with all of them ended state-rm is shut: %s", unmet(p))
	}
}
