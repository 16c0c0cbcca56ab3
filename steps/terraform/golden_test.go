package terraform

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestTerraformsOwnFiles reads what a real Terraform 1.11.4 wrote: a unit whose
// resource was renamed, whose apply then failed at a provisioner.
func TestTerraformsOwnFiles(t *testing.T) {
	t.Parallel()
	from, err := filepath.Abs(filepath.Join("testdata", "terraform-1.11.4"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	first, err := os.ReadFile(filepath.Join(from, "first.tfstate"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "terraform.tfstate"), first, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	env := steps.Env{Dir: dir}
	read := func(kind string, in steps.Params) steps.Observation {
		t.Helper()
		obs, err := probe(t.Context(), env, kind, in, stepstest.NewSink())
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		return obs
	}
	if f := read("terraform/state", nil).Facts; f["condition"].Text() != "sound" || f["resources"].Int() != 4 || f["tool_version"].Text() != "1.11.4" || f["sensitive"].Int() == 0 {
		t.Errorf("state = %v", f)
	}
	saved := read("terraform/plan-file", steps.Params{"file": fileParam(filepath.Join(from, "saved.plan"))}).Facts
	json := read("terraform/plan-file", steps.Params{"file": fileParam(filepath.Join(from, "plan.json"))}).Facts
	if json["missing_moves"].Table()["terraform_data.old"] != "terraform_data.new" || json["newer"].Bool() {
		t.Errorf("plan = %v", json)
	}
	for _, name := range []string{"add", "change", "destroy", "changed", "doomed", "forced", "actions_digest", "newer", "tool_version"} {
		if a, b := fmt.Sprint(json[name]), fmt.Sprint(saved[name]); a != b {
			t.Errorf("%s: json %s, saved %s", name, a, b)
		}
	}
	if saved["state_bound"].Text() != "same" || saved["content_bound"].Text() != "same" || saved["config_bound"].Text() != "moved" {
		t.Errorf("bindings = %v", saved)
	}
	for _, name := range []string{"apply.log", "apply.json.log"} {
		f := read("terraform/log", steps.Params{"file": fileParam(filepath.Join(from, name))}).Facts
		if !slices.Equal(f["exists"].Strings(), []string{"terraform_data.broken"}) || f["ending"].Text() != "failed" || f["operations"].Table()["terraform_data.broken"] != "failed" {
			t.Errorf("%s = %v", name, f)
		}
	}
	d := read("terraform/state-diff", steps.Params{"before": fileParam(filepath.Join(from, "first.tfstate")), "after": fileParam(filepath.Join(from, "last.tfstate"))}).Facts
	if d["missing"].Int() != 2 || d["added"].Int() != 3 || d["changed"].Int() != 1 || d["lineage_changed"].Bool() || d["serial_after"].Int() <= d["serial_before"].Int() {
		t.Errorf("diff = %v", d)
	}
}
