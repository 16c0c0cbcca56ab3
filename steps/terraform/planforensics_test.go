package terraform

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
)

// show writes the JSON of a saved plan as the probe would get it.
func (w *world) show(plan, to string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.tofu, "show", "-json", plan)
	cmd.Dir, cmd.Env = w.dir, w.bot
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.lay(to, string(out))
}

const planBefore = `
variable "why" { default = "x" }
resource "terraform_data" "old" {
  count = 2
  input = "counted ${count.index}"
}
resource "terraform_data" "keyed" {
  for_each = toset(["a", "b"])
  input = each.key
}
resource "terraform_data" "forced" { triggers_replace = var.why }
resource "terraform_data" "stays" { input = "same" }
resource "terraform_data" "gone" { input = "really gone" }
resource "terraform_data" "edited" { input = "before" }
`

const planAfter = `
variable "why" { default = "y" }
resource "terraform_data" "new" {
  count = 2
  input = "counted ${count.index}"
}
resource "terraform_data" "keyed" {
  for_each = toset(["a", "c"])
  input = each.key
}
resource "terraform_data" "forced" { triggers_replace = var.why }
resource "terraform_data" "stays" { input = "same" }
resource "terraform_data" "edited" { input = "after" }
`

// TestPlanForensicsOfRealTofu reads a real plan in both forms, pastes the moved
// blocks that it gives, and follows what a saved plan is bound to.
func TestPlanForensicsOfRealTofu(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", planBefore)
	w.run("apply", "-auto-approve", "-input=false")
	w.lay("main.tf", planAfter)
	w.run("plan", "-input=false", "-out=p1")
	obs := w.probe("terraform/plan-file", steps.Params{"file": fileParam(w.show("p1", "p1.json"))})
	f := obs.Facts
	moves := f["missing_moves"].Table()
	if f["format"].Text() != "json" || moves["terraform_data.old"] != "terraform_data.new" || len(moves) != 1 {
		t.Errorf("moves = %v %v", moves, obs.Findings)
	}
	doomed := f["doomed"].Table()
	for address, why := range map[string]string{"terraform_data.old[0]": "gone from the configuration", `terraform_data.keyed["b"]`: "gone from for_each", "terraform_data.forced": "cannot be changed in place", "terraform_data.gone": "gone from the configuration"} {
		if !strings.Contains(doomed[address], why) {
			t.Errorf("doomed[%s] = %q, want %q", address, doomed[address], why)
		}
	}
	if f["forced"].Table()["terraform_data.forced"] != "triggers_replace" || f["add"].Int() != 4 || f["destroy"].Int() != 5 || f["change"].Int() != 1 || !f["mass"].Bool() {
		t.Errorf("plan = %v", f)
	}

	// A plan that is made for a gate tells the renames too: nothing else has to plan again for them.
	made := w.probe("terraform/saved-plan", nil)
	for _, name := range []string{"forced", "missing_moves"} {
		if a, b := fmt.Sprint(f[name]), fmt.Sprint(made.Facts[name]); a != b {
			t.Errorf("%s: json %s, made for a gate %s", name, a, b)
		}
	}

	// The saved form says the same, and what it is bound to.
	saved := w.probe("terraform/plan-file", steps.Params{"file": fileParam("p1"), "tool_version": text("1.12.6")})
	for _, name := range []string{"add", "change", "destroy", "replace", "changed", "creates", "doomed", "forced", "actions_digest"} {
		if a, b := fmt.Sprint(f[name]), fmt.Sprint(saved.Facts[name]); a != b {
			t.Errorf("%s: json %s, saved %s", name, a, b)
		}
	}
	w.bound(saved, "same", "same", "same")
	if saved.Facts["tool_bound"].Text() != "same" || saved.Facts["workspace_bound"].Text() != "same" || saved.Facts["providers_bound"].Text() != "same" || strings.Join(saved.Facts["variables"].Strings(), "") != "" {
		t.Errorf("bindings = %v", saved.Facts)
	}

	// A collision: other content under the same serial. The tool would take the plan.
	kept, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	w.lay("terraform.tfstate", strings.Replace(string(kept), `"value": "same"`, `"value": "other"`, 1))
	obs = w.probe("terraform/plan-file", steps.Params{"file": fileParam("p1")})
	if w.bound(obs, "same", "moved", "same"); !said(obs, "overwrites the state with the plan's own copy") {
		t.Errorf("collision: %v", obs.Findings)
	}
	w.lay("terraform.tfstate", string(kept))

	// An edit of the configuration has no part in the saved plan.
	blocks := f["moved_blocks"].Text()
	w.lay("moved.tf", blocks)
	obs = w.probe("terraform/plan-file", steps.Params{"file": fileParam("p1")})
	w.bound(obs, "same", "same", "moved")

	// With the block pasted nothing of what only moved is destroyed.
	w.run("plan", "-input=false", "-out=p2")
	obs = w.probe("terraform/plan-file", steps.Params{"file": fileParam(w.show("p2", "p2.json"))})
	if got := obs.Facts; got["moves"].Int() != 2 || got["destroy"].Int() != 3 || got["doomed"].Table()["terraform_data.old[0]"] != "" {
		t.Errorf("after the blocks = %v", got)
	}

	// Another write makes the plan stale.
	w.run("state", "rm", "terraform_data.gone")
	obs = w.probe("terraform/plan-file", steps.Params{"file": fileParam("p2")})
	if w.bound(obs, "moved", "moved", "same"); !said(obs, "stale") {
		t.Errorf("stale: %v", obs.Findings)
	}
}

func (w *world) bound(obs steps.Observation, state, content, config string) {
	w.t.Helper()
	f := obs.Facts
	if f["state_bound"].Text() != state || f["content_bound"].Text() != content || f["config_bound"].Text() != config {
		w.t.Errorf("state %s, content %s, configuration %s (%s), want %s, %s, %s: %v", f["state_bound"].Text(), f["content_bound"].Text(), f["config_bound"].Text(), f["config_changes"].Strings(), state, content, config, obs.Gaps)
	}
}

// TestFirstPlan is bound to there being no state.
func TestFirstPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", "terraform {\n  backend \"local\" {}\n}\n"+threeThings)
	w.run("plan", "-input=false", "-out=p")
	obs := w.probe("terraform/plan-file", steps.Params{"file": fileParam("p")})
	w.bound(obs, "same", "same", "same")
	w.run("apply", "-auto-approve", "-input=false")
	obs = w.probe("terraform/plan-file", steps.Params{"file": fileParam("p")})
	w.bound(obs, "moved", "moved", "same")
}

// TestExitZeroIsNotNoDrift: the plan with nothing to do says what it does not say.
func TestExitZeroIsNotNoDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", threeThings)
	w.run("apply", "-auto-approve", "-input=false")
	obs := w.probe("terraform/plan", nil)
	if !obs.Facts["clean"].Bool() || obs.Facts["exit"].Int() != 0 || !said(obs, "does not say that nothing drifted") {
		t.Errorf("plan = %v %v", obs.Facts, obs.Findings)
	}
}
