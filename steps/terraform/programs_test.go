package terraform

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/change"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tool"
)

// TestBothProgramsOnAServer walks the probes and gates that touch a state on a
// real API server, with tofu and both versions of terraform: what is read is the
// same, what a probe does leaves no write, and an apply leaves those of its act.
func TestBothProgramsOnAServer(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "kubernetes", twoKept)
		w.run("apply", "-auto-approve", "-input=false")
		w.lay("main.tf", strings.Replace(w.text("main.tf"), twoKept, twoNew, 1))
		began := time.Now()
		state := w.probe("terraform/state", nil)
		if !slices.Equal(state.Facts["addresses"].Strings(), []string{"terraform_data.forced", "terraform_data.gone", "terraform_data.kept"}) || state.Facts["condition"].Text() != "sound" {
			t.Errorf("state = %v", state.Facts)
		}
		plan := w.probe("terraform/plan", nil)
		if f := plan.Facts; f["exit"].Int() != 2 || f["add"].Int() != 3 || f["destroy"].Int() != 2 || f["replace"].Int() != 1 {
			t.Errorf("plan = %v", f)
		}
		obs, in := w.saved(nil)
		if f := obs.Facts; f["add"].Int() != 2 || f["replace"].Int() != 1 || f["serial"].Int() != state.Facts["serial"].Int() {
			t.Errorf("saved plan = %v", f)
		}
		whole := w.probe("terraform/plan-file", steps.Params{"file": in["plan"]})
		for _, bound := range []string{"state_bound", "content_bound", "config_bound", "providers_bound", "workspace_bound"} {
			if got := whole.Facts[bound].Text(); got != "same" {
				t.Errorf("%s = %s", bound, got)
			}
		}
		few := steps.Params{"plan": in["plan"], "digest": in["digest"], "addresses": obs.Facts["addresses"], "parallelism": steps.IntOf(3)}
		p := w.previewOf("terraform/apply-targeted", few)
		if !strings.Contains(p.Request, "-parallelism=3") || len(p.Unmet) > 0 {
			t.Fatalf("preview = %q %s", p.Request, unmet(p))
		}
		if n := w.writes(began); n != 0 {
			t.Errorf("the operator wrote %d times before the act", n)
		}
		out := stepstest.NewSink()
		if o := w.acts("terraform/apply-targeted", few, out); o.Result != steps.Done || steps.Find(o.After, "lock") != "free" {
			t.Fatalf("outcome = %+v", o)
		}
		if w.writes(began) == 0 {
			t.Error("an apply without a write")
		}
		log := w.probe("terraform/log", steps.Params{"file": fileParam(w.lay("apply.log", out.Artifacts["log"].String()))})
		if f := log.Facts; f["completed"].Int() != 6 || !f["finished"].Bool() || len(f["in_flight"].Strings()) != 0 {
			t.Errorf("log = %v", f)
		}
	})
}

// text is a file of the root module.
func (w *world) text(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// writes counts what the operator changed on the server since a time.
func (w *world) writes(since time.Time) int {
	w.t.Helper()
	events, err := w.lab.AuditEvents(w.t.Context(), lab.AuditFilter{User: w.ns.Operator, Since: since})
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, e := range events {
		if e.Persists() {
			n++
		}
	}
	return n
}

// TestTerraformIsUnlocked kills an apply of terraform and releases its lock.
func TestTerraformIsUnlocked(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"terraform", "terraform15"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, program, "kubernetes", sixSlow)
			cmd, log := w.apply()
			lock := w.probe("terraform/lock", nil)
			if live := w.probe("terraform/holder", w.holderParams(lock)); live.Facts["alive"].Text() != "alive" {
				t.Errorf("holder of a live run = %v", live.Facts)
			}
			w.kill(cmd)
			run := w.probe("terraform/log", steps.Params{"file": steps.PathOf(log)})
			if run.Facts["completed"].Int() != 2 || run.Facts["finished"].Bool() {
				t.Errorf("log = %v", run.Facts)
			}
			w.backdate(47 * time.Minute)
			p := w.preview(lock.Facts["id"].Text())
			if o, err := (change.UnlockGate{Env: w.env}).Act(t.Context(), w.approve(p), stepstest.NewSink()); err != nil || o.Result != steps.Done {
				t.Fatalf("Act() = %+v, %v", o, err)
			}
			if after := w.probe("terraform/lock", nil); after.Facts["held"].Bool() {
				t.Error("the lock is still held")
			}
		})
	}
}

// TestMixedUse: a state of the other tool, or of a newer one, is taken by both
// without a word; handrail says it.
func TestMixedUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", "resource \"terraform_data\" \"a\" {}\n")
	w.run("apply", "-auto-approve", "-input=false")
	w.lay("terraform.tfstate", strings.Replace(w.text("terraform.tfstate"), `"terraform_version": "1.12.6"`, `"terraform_version": "9.9.9"`, 1))
	if err := os.MkdirAll(filepath.Join(w.dir, ".terraform/providers/registry.terraform.io"), 0o700); err != nil {
		t.Fatal(err)
	}
	obs := w.probe("terraform/saved-plan", nil)
	for _, part := range []string{"is of Terraform. Neither tool says a word", "version 9.9.9, newer than OpenTofu 1.12.6"} {
		if !finds(obs, part) {
			t.Errorf("findings = %v, want %q", obs.Findings, part)
		}
	}
}

func finds(obs steps.Observation, part string) bool {
	return slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, part) })
}

// TestSettingsOfThePerson: what changes the arguments of the program is dropped
// and said, what names the same module is kept.
func TestSettingsOfThePerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", "variable \"x\" { default = \"a\" }\nresource \"terraform_data\" \"a\" { input = var.x }\n")
	w.run("apply", "-auto-approve", "-input=false")
	if err := os.Rename(filepath.Join(w.dir, ".terraform"), filepath.Join(w.dir, "data")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	w.env.Environ = append(slices.Clone(w.env.Environ), "TF_CLI_ARGS_plan=-var x=b -destroy", "TF_CLI_ARGS=-no-such-flag", "TF_DATA_DIR=data", "TF_LOG=trace")
	obs := w.probe("terraform/saved-plan", nil)
	if !obs.Facts["clean"].Bool() || !finds(obs, "TF_CLI_ARGS_plan is set and not passed on") || !finds(obs, "TF_CLI_ARGS is set and not passed on") {
		t.Errorf("plan = %v %v", obs.Facts, obs.Findings)
	}
	w.env.Environ = append(w.env.Environ, "TF_VAR_x=c")
	obs, in := w.saved(nil)
	if obs.Facts["change"].Int() != 1 {
		t.Errorf("plan with TF_VAR_x = %v", obs.Facts)
	}
	p := w.previewOf("terraform/apply-plan", in)
	if !slices.ContainsFunc(p.Shown, func(kv steps.KV) bool { return strings.Contains(kv.Value, "TF_CLI_ARGS is set") }) {
		t.Errorf("shown = %v", p.Shown)
	}
	if o := w.acts("terraform/apply-plan", in, stepstest.NewSink()); o.Result != steps.Done {
		t.Errorf("outcome = %+v", o)
	}
	w.run("workspace", "new", "other")
	w.run("apply", "-auto-approve", "-input=false")
	w.run("workspace", "select", "default")
	w.env.Environ = append(w.env.Environ, "TF_WORKSPACE=other", "TF_VAR_x=d")
	_, in = w.saved(nil)
	p = w.previewOf("terraform/apply-plan", in)
	if len(p.Unmet) > 0 || steps.Find(p.Target, module.KeyWorkspace) != "other" || !strings.Contains(p.Command, "TF_WORKSPACE=other") {
		t.Fatalf("preview in another workspace = %v %s %s", p.Target, p.Command, unmet(p))
	}
	if o := w.acts("terraform/apply-plan", in, stepstest.NewSink()); o.Result != steps.Done || !strings.Contains(steps.Find(o.After, "state object"), "other") {
		t.Errorf("outcome = %+v", o)
	}
}

// TestWrappers are named, and no plan is made that would not be theirs.
func TestWrappers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", "resource \"terraform_data\" \"a\" {}\n")
	w.run("apply", "-auto-approve", "-input=false")
	w.lay("atlantis.yaml", "version: 3\n")
	if obs := w.probe("terraform/saved-plan", nil); !finds(obs, "Atlantis applies this repository") {
		t.Errorf("findings = %v", obs.Findings)
	}
	_, in := w.saved(nil)
	w.lay("terragrunt.hcl", "inputs = {}\n")
	if _, err := probe(t.Context(), w.env, "terraform/saved-plan", nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "terragrunt plan -out=FILE") {
		t.Errorf("a plan in a unit of terragrunt = %v", err)
	}
	if p := w.previewOf("terraform/apply-plan", in); !slices.ContainsFunc(p.Shown, func(kv steps.KV) bool { return strings.Contains(kv.Value, "unit of terragrunt") }) {
		t.Errorf("shown = %v", p.Shown)
	}
	for dir, want := range map[string]string{
		"/x/.terragrunt-cache/abc/def": "terragrunt", w.dir: "terragrunt",
	} {
		if got := module.Wrappers(dir); !module.HasWrapper(got, want) {
			t.Errorf("wrappers(%s) = %v, want %s", dir, got, want)
		}
	}
	bare := t.TempDir()
	if err := os.WriteFile(filepath.Join(bare, "terragrunt.hcl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := module.Open(steps.Env{Dir: bare}, nil); err == nil || !strings.Contains(err.Error(), ".terragrunt-cache") {
		t.Errorf("a unit of terragrunt that nothing initialised = %v", err)
	}
	if why := module.Unplanned(module.Workdir{Dir: bare + "/x", Backend: "cloud"}); !strings.Contains(why, "HCP Terraform") {
		t.Errorf("cloud = %q", why)
	}
}

// TestRunLeftAlone: who follows an apply goes, and the program comes to its end
// all the same, with its lock released.
func TestRunLeftAlone(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "kubernetes", strings.Repeat("#\n", 3)+`
resource "terraform_data" "many" {
  count = 40
  provisioner "local-exec" { command = "seq 200" }
}
`)
		r, err := tool.Start(w.dir, w.bot, []string{w.tofu, "apply", "-auto-approve", "-input=false", "-json"})
		if err != nil {
			t.Fatal(err)
		}
		// All that its reader had is gone.
		_, _ = r.Out.Close(), r.Err.Close()
		if err := r.Cmd.Wait(); err != nil {
			t.Fatalf("the apply that nobody reads ended with %v", err)
		}
		if lock := w.probe("terraform/lock", nil); lock.Facts["held"].Bool() {
			t.Error("its lock is orphaned")
		}
		if state := w.probe("terraform/state", nil); state.Facts["resources"].Int() != 40 {
			t.Errorf("state = %v", state.Facts)
		}
	})
}
