package terraform

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

const fixedValues = `
variable "size" { type = number }
variable "region" { default = "north" }
variable "zone" { default = "a" }
variable "shape" {
  type    = map(list(string))
  default = {}
}
variable "db_password" { default = "none-given-here" }
variable "hidden" {
  default   = "unset-and-hidden"
  sensitive = true
}
resource "terraform_data" "a" { input = "${var.region} ${var.zone} ${var.size}" }
resource "terraform_data" "b" { input = var.shape }
`

// TestValuesOfTheApprovedPlan makes a new plan after files and environment changed:
// it fixes what the approved one fixed, or the difference is named, and no value of
// a secret variable is.
func TestValuesOfTheApprovedPlan(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "local", fixedValues)
		tfvars := filepath.Join(w.dir, "terraform.tfvars")
		ok(t, os.WriteFile(tfvars, []byte("region = \"east\"\nshape = { \"$${a}\" = [\"x\\ny\"] }\n"), 0o600))
		w.run("apply", "-auto-approve", "-input=false", "-var=size=1")
		approved := filepath.Join(t.TempDir(), "approved.tfplan")
		w.run("plan", "-input=false", "-out="+approved, "-var=size=3", "-var=db_password=hunter2-hunter2", "-var=hidden=swordfish-swordfish")

		// Since then the file changed: it sets size, and zone, whose default was approved.
		ok(t, os.WriteFile(tfvars, []byte("region = \"west\"\nzone = \"z\"\nsize = 99\n"), 0o600))
		of := steps.Params{"values_of": steps.PathOf(approved)}
		obs, in := w.saved(of)
		if got := obs.Facts["fixed_changes"]; !got.Known() || len(got.Strings()) != 0 {
			t.Errorf("with the approved values fixed_changes = %v %v", got, obs.Findings)
		}
		if shown := w.run("show", "-no-color", obs.Facts["file"].Text()); !strings.Contains(shown, `"east a 3"`) {
			t.Errorf("the plan is not for the approved values:\n%s", shown)
		}
		if got := obs.Facts["addresses"].Strings(); !slices.Equal(got, []string{"terraform_data.a"}) {
			t.Errorf("it would act on %v, want a alone: shape is as it was", got)
		}
		in["values_of"] = steps.PathOf(approved)
		if p := w.previewOf("terraform/apply-plan", in); shownAs(p, "values compared") != "all are those of "+approved {
			t.Errorf("the gate shows %v", p.Shown)
		}

		// The file that is meant wins, and each difference is shown with both values.
		changed := filepath.Join(t.TempDir(), "new.tfvars")
		ok(t, os.WriteFile(changed, []byte("region = \"south\"\ndb_password = \"correct-horse-battery\"\nhidden = \"marlin-marlin-marlin\"\n"), 0o600))
		sink := stepstest.NewSink()
		of["var_file"] = steps.PathOf(changed)
		obs, err := probe(t.Context(), w.env, "terraform/saved-plan", of, sink)
		ok(t, err)
		want := []string{"variable db_password: another value, which is sensitive", "variable hidden: another value, which is sensitive", `variable region: "east" -> "south"`}
		if got := obs.Facts["fixed_changes"].Strings(); !slices.Equal(got, want) {
			t.Errorf("fixed_changes = %q, want %q", got, want)
		}
		in = steps.Params{"plan": steps.PathOf(obs.Facts["file"].Text()), "digest": obs.Facts["digest"], "values_of": steps.PathOf(approved)}
		p := w.previewOf("terraform/apply-plan", in)
		if got := shownAs(p, "variable region"); got != `"east" -> "south"` {
			t.Errorf("the gate shows %v", p.Shown)
		}
		for _, secret := range []string{"hunter2-hunter2", "swordfish-swordfish", "correct-horse-battery", "marlin-marlin-marlin"} {
			if !slices.Contains(sink.Secrets, secret) {
				t.Errorf("%q is not known as a secret", secret)
			}
			for _, kv := range p.Shown {
				if strings.Contains(kv.Value, secret) {
					t.Errorf("the gate shows %s", kv.Value)
				}
			}
		}

		// Without another plan each value that is fixed is shown, its own default too, and no secret one.
		delete(in, "values_of")
		p = w.previewOf("terraform/apply-plan", in)
		for key, want := range map[string]string{"variable region": `"south"`, "variable size": `"3"`, "variable hidden": "a sensitive value", "variable db_password": "a sensitive value"} {
			if got := shownAs(p, key); got != want {
				t.Errorf("%s is shown as %q, want %q", key, got, want)
			}
		}
		if got := strings.Join(obs.Facts["fixed"].Strings(), "; "); !strings.Contains(got, `variable region: "south"`) || strings.Contains(got, "marlin") {
			t.Errorf("fixed = %s", got)
		}

		// A plan that cannot be read is no plan with the same values.
		obs = w.probe("terraform/saved-plan", steps.Params{"values_of": steps.PathOf(tfvars), "var_file": steps.PathOf(changed)})
		if got := obs.Facts["fixed_changes"].Strings(); len(got) != 1 || !strings.HasPrefix(got[0], "cannot be told: ") || !says(obs, "cannot be read, so this one is made from the present files") {
			t.Errorf("beside no plan: %v %v", obs.Facts["fixed_changes"], obs.Findings)
		}
	})
}

// TestReplacementsOfTheApprovedPlan: what a plan was told to replace, and what alone it was made
// for, is taken over, shown and held against any other plan. The tools keep no -replace in a plan:
// it is read off what it made them do.
func TestReplacementsOfTheApprovedPlan(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "local", `
resource "terraform_data" "a" { input = "x" }
resource "terraform_data" "b" { input = "y" }
resource "terraform_data" "c" { input = "z" }
`)
		w.run("apply", "-auto-approve", "-input=false")
		approved := filepath.Join(t.TempDir(), "approved.tfplan")
		w.run("plan", "-input=false", "-out="+approved, "-replace=terraform_data.a", "-target=terraform_data.a", "-target=terraform_data.b")
		of := steps.Params{"values_of": steps.PathOf(approved)}
		obs, in := w.saved(of)
		if got := strings.Join(obs.Facts["fixed"].Strings(), "; "); got != "targets: terraform_data.a, terraform_data.b; replace: terraform_data.a" {
			t.Errorf("the new plan fixes %q", got)
		}
		if got := obs.Facts["doomed"].Strings(); !slices.Equal(got, []string{"terraform_data.a"}) || len(obs.Facts["fixed_changes"].Strings()) != 0 {
			t.Errorf("it replaces %v, and differs in %v", got, obs.Facts["fixed_changes"])
		}
		in["values_of"] = steps.PathOf(approved)
		if p := w.previewOf("terraform/apply-plan", in); shownAs(p, "values compared") != "all are those of "+approved {
			t.Errorf("the gate shows %v", p.Shown)
		}

		other := filepath.Join(t.TempDir(), "other.tfplan")
		w.run("plan", "-input=false", "-out="+other, "-replace=terraform_data.c")
		of["values_of"] = steps.PathOf(other)
		_, in = w.saved(of)
		in["values_of"] = steps.PathOf(approved)
		p := w.previewOf("terraform/apply-plan", in)
		if got := shownAs(p, "replace"); got != "terraform_data.a -> terraform_data.c" {
			t.Errorf("the gate shows replace %q: %v", got, p.Shown)
		}
		if got := shownAs(p, "targets"); !strings.HasPrefix(got, "terraform_data.a, terraform_data.b -> ") {
			t.Errorf("the gate shows targets %q", got)
		}
	})
}

func shownAs(p steps.Preview, key string) string {
	for _, kv := range p.Shown {
		if kv.Key == key {
			return kv.Value
		}
	}
	return ""
}
