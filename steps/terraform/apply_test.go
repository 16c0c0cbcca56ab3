package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/change"
	"handrail/steps/terraform/module"
)

func programPath(t *testing.T, l *lab.Lab, name string) string {
	t.Helper()
	if name == "tofu" {
		return l.TofuPath()
	}
	o, err := lab.ForTests("programs")
	if err != nil {
		t.Fatal(err)
	}
	build := map[string]func(context.Context, lab.Options) (string, error){"terraform": lab.Terraform, "terraform15": lab.Terraform15}[name]
	path, err := build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func eachProgram(t *testing.T, do func(t *testing.T, program string)) {
	for _, program := range []string{"tofu", "terraform", "terraform15"} {
		t.Run(program, func(t *testing.T) { t.Parallel(); do(t, program) })
	}
}

const twoKept = `
resource "terraform_data" "kept" { input = "same" }
resource "terraform_data" "gone" { input = "really gone" }
resource "terraform_data" "forced" { triggers_replace = "x" }
`

const twoNew = `
resource "terraform_data" "kept" { input = "other" }
resource "terraform_data" "forced" { triggers_replace = "y" }
resource "terraform_data" "new" {
  count = 2
  input = count.index
}
`

// saved makes a plan by the probe, and returns what a gate needs of it.
func (w *world) saved(in steps.Params) (steps.Observation, steps.Params) {
	w.t.Helper()
	obs := w.probe("terraform/saved-plan", in)
	if !obs.Facts["digest"].Known() {
		w.t.Fatalf("saved-plan = %v %v", obs.Summary, obs.Findings)
	}
	return obs, steps.Params{"plan": steps.PathOf(obs.Facts["file"].Text()), "digest": obs.Facts["digest"]}
}

func (w *world) previewOf(kind string, in steps.Params) steps.Preview {
	w.t.Helper()
	p, err := kindOf(kind).Changes(w.env).Preview(w.t.Context(), in, stepstest.NewSink())
	if err != nil {
		w.t.Fatalf("%s: %v", kind, err)
	}
	return p
}

// act confirms what a gate shows and lets it act.
func (w *world) acts(kind string, in steps.Params, out *stepstest.Sink) steps.Outcome {
	w.t.Helper()
	p := w.previewOf(kind, in)
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", kind, err, unmet(p))
	}
	o, err := kindOf(kind).Changes(w.env).Act(w.t.Context(), a, out)
	if err != nil {
		w.t.Fatalf("%s: %v", kind, err)
	}
	return o
}

func (w *world) state() map[string]any {
	w.t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(w.run("state", "pull")), &doc); err != nil {
		w.t.Fatal(err)
	}
	return doc
}

// TestSavedPlanIsApplied makes a plan, shows it and applies it with each program.
func TestSavedPlanIsApplied(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "local", twoKept)
		w.run("apply", "-auto-approve", "-input=false")
		before := w.state()
		w.lay("main.tf", twoNew)
		obs, in := w.saved(nil)
		f := obs.Facts
		if f["add"].Int() != 2 || f["change"].Int() != 1 || f["destroy"].Int() != 1 || f["replace"].Int() != 1 || f["clean"].Bool() ||
			!slices.Equal(f["doomed"].Strings(), []string{"terraform_data.forced", "terraform_data.gone"}) || len(f["addresses"].Strings()) != 5 ||
			f["serial"].Int() != int64(before["serial"].(float64)) || f["lineage"].Text() != before["lineage"] || !f["tool"].Known() {
			t.Errorf("facts = %v", f)
		}
		if info, err := os.Stat(f["file"].Text()); err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(f["file"].Text(), w.env.Private) {
			t.Errorf("plan file %s: %v, %v", f["file"].Text(), info, err)
		}
		if after := w.state(); after["serial"] != before["serial"] {
			t.Error("the plan wrote the state")
		}
		p := w.previewOf("terraform/apply-plan", in)
		if want := fmt.Sprintf("apply %.12s destroying 2", f["digest"].Text()); p.Phrase != want || len(p.Unmet) > 0 {
			t.Fatalf("phrase = %q, want %q; unmet %s", p.Phrase, want, unmet(p))
		}
		if len(p.Diff) != 5 || !strings.HasPrefix(p.Diff[0], "- destroy terraform_data.gone: its block") || !strings.Contains(p.Diff[1], "triggers_replace") {
			t.Errorf("diff = %q", p.Diff)
		}
		if p.Prior == nil || !bytes.Contains(p.Prior.Raw, []byte("really gone")) {
			t.Error("what was recorded before is not kept")
		}
		if err := w.putBack(p); err != nil { // it only looks
			t.Error(err)
		}
		out := stepstest.NewSink()
		o := w.acts("terraform/apply-plan", in, out)
		if o.Result != steps.Done || !strings.Contains(o.Response, "5 changes complete") || !strings.Contains(out.Artifacts["operations"].String(), `"terraform_data.gone":"complete"`) {
			t.Fatalf("outcome = %+v %s", o, out.Artifacts["operations"])
		}
		again := w.previewOf("terraform/apply-plan", in)
		wantUnmet(t, again, "The state is not the one")
		if found, err := kindOf("terraform/apply-plan").Changes(w.env).(steps.Finder).Find(t.Context(), p.Target, in, stepstest.NewSink()); err != nil ||
			found.Result != steps.Failed || !strings.Contains(found.Response, "2 changes in place") {
			t.Errorf("Find() = %+v, %v", found, err)
		}
		if obs := w.probe("terraform/saved-plan", nil); !obs.Facts["clean"].Bool() {
			t.Errorf("plan after the apply = %v", obs.Facts)
		} else {
			wantUnmet(t, w.previewOf("terraform/apply-plan", steps.Params{"plan": steps.PathOf(obs.Facts["file"].Text()), "digest": obs.Facts["digest"]}), "would change nothing")
		}
	})
}

const halfBroken = `
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
  provisioner "local-exec" { command = "exit 3" }
}
resource "terraform_data" "c" { depends_on = [terraform_data.b] }
`

// TestApplyEndsInTheMiddle: what completed, failed and never began is told apart.
func TestApplyEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "local", "output \"x\" { value = 1 }\n")
		w.run("apply", "-auto-approve", "-input=false")
		w.lay("main.tf", halfBroken)
		_, in := w.saved(nil)
		out := stepstest.NewSink()
		o := w.acts("terraform/apply-plan", in, out)
		if o.Result != steps.Failed {
			t.Fatalf("outcome = %+v", o)
		}
		for _, part := range []string{"after 1 of 3 changes", "\nComplete: terraform_data.a.", "\nFailed: terraform_data.b.", "\nNot started: terraform_data.c.", "exit status 3"} {
			if !strings.Contains(o.Response, part) {
				t.Errorf("response = %q, want %q in it", o.Response, part)
			}
		}
		if lock := w.probe("terraform/lock", nil); lock.Facts["held"].Bool() {
			t.Error("the lock is still held")
		}
	})
}

// TestApplyRefusals: each binding of a plan that does not hold keeps the gate shut.
func TestApplyRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", twoKept)
	w.run("apply", "-auto-approve", "-input=false")
	before, _ := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	w.lay("main.tf", twoNew)
	_, in := w.saved(nil)
	whole := "terraform/apply-plan"
	if p := w.previewOf(whole, in); len(p.Unmet) > 0 {
		t.Fatal(unmet(p))
	}
	t.Run("another digest", func(t *testing.T) {
		other := steps.Params{"plan": in["plan"], "digest": steps.IdentOf(strings.Repeat("0", 64))}
		wantUnmet(t, w.previewOf(whole, other), "not the plan that was approved")
	})
	t.Run("no plan", func(t *testing.T) {
		other := steps.Params{"plan": fileParam(w.lay("no.plan", "PK")), "digest": in["digest"]}
		wantUnmet(t, w.previewOf(whole, other), "cannot be read")
	})
	t.Run("not trusted", func(t *testing.T) {
		env := w.env
		w.env.Trusted = func(string) error { return errors.New("not now") }
		wantUnmet(t, w.previewOf(whole, in), "not now")
		w.env = env
	})
	t.Run("as a refresh", func(t *testing.T) { wantUnmet(t, w.previewOf("terraform/apply-refresh", in), "mode normal") })
	t.Run("outside of the list", func(t *testing.T) {
		few := steps.Params{"plan": in["plan"], "digest": in["digest"], "addresses": steps.StringsOf([]string{"terraform_data.new", "terraform_data.kept"})}
		wantUnmet(t, w.previewOf("terraform/apply-targeted", few), "outside of the list, on terraform_data.forced, terraform_data.gone")
	})
	t.Run("other configuration", func(t *testing.T) {
		w.lay("main.tf", twoNew+"# edited\n")
		wantUnmet(t, w.previewOf(whole, in), "1 difference, first changed: main.tf")
		w.lay("main.tf", twoNew)
	})
	t.Run("other providers", func(t *testing.T) {
		lock := w.lay(".terraform.lock.hcl", `provider "registry.opentofu.org/hashicorp/null" { version = "3.2.0" }`)
		wantUnmet(t, w.previewOf(whole, in), "lock file of the providers")
		_ = os.Remove(lock)
	})
	t.Run("other workspace", func(t *testing.T) {
		other := steps.Params{"plan": in["plan"], "digest": in["digest"], "workspace": text("prod")}
		wantUnmet(t, w.previewOf(whole, other), "another workspace")
	})
	t.Run("other version", func(t *testing.T) {
		env := w.env
		other := programPath(t, w.lab, "terraform")
		w.env.Tool = func(string) (string, error) { return other, nil }
		wantUnmet(t, w.previewOf(whole, in), "only the very version")
		w.env = env
	})
	t.Run("paused by another client", func(t *testing.T) {
		mark := w.lay(module.PauseFile, `{"who":"grace@elsewhere","when":"2026-11-22T00:00:00Z","why":"freeze","incident":"other","until":"2026-11-22T04:00:00Z"}`)
		wantUnmet(t, w.previewOf(whole, in), "paused by grace@elsewhere in incident other")
		_ = os.Remove(mark)
	})
	t.Run("a run in the directory", func(t *testing.T) {
		cmd := exec.Command(w.tofu, "console")
		cmd.Dir, cmd.Env = w.dir, w.bot
		hold, err := cmd.StdinPipe()
		if err != nil || cmd.Start() != nil {
			t.Fatal(err)
		}
		wantUnmet(t, w.previewOf(whole, in), "A run is active in the directory")
		_ = hold.Close()
		_ = cmd.Wait()
	})
	// What the tool itself lets through: the same serial and lineage, another content.
	t.Run("same serial", func(t *testing.T) {
		w.lay("terraform.tfstate", strings.Replace(string(before), "really gone", "not at all", 2))
		p := w.previewOf(whole, in)
		wantUnmet(t, p, "two writers collided")
		w.lay("terraform.tfstate", string(before))
	})
	t.Run("moved between", func(t *testing.T) {
		p := w.previewOf(whole, in)
		a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
		if err != nil {
			t.Fatal(err)
		}
		w.lay("terraform.tfstate", strings.Replace(string(before), "really gone", "not at all", 2))
		o, err := change.ApplyGate{Env: w.env}.Act(t.Context(), a, stepstest.NewSink())
		if err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "two writers collided") {
			t.Errorf("Act() = %+v, %v, want it refused", o, err)
		}
		w.lay("terraform.tfstate", string(before))
	})
}

// TestRefreshIsApplied: only the state is written, and the copy puts it back.
func TestRefreshIsApplied(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "local", "output \"x\" { value = 1 }\nresource \"terraform_data\" \"a\" {}\n")
		w.run("apply", "-auto-approve", "-input=false")
		was := w.state()
		w.lay("main.tf", "output \"x\" { value = 2 }\nresource \"terraform_data\" \"a\" {}\n")
		obs, in := w.saved(steps.Params{"mode": steps.EnumOf("refresh-only")})
		if obs.Facts["addresses"].Known() && len(obs.Facts["addresses"].Strings()) > 0 {
			t.Errorf("addresses = %v", obs.Facts["addresses"])
		}
		p := w.previewOf("terraform/apply-refresh", in)
		wantUnmet(t, w.previewOf("terraform/apply-plan", in), "mode refresh-only")
		if program == "terraform" {
			wantUnmet(t, p, "not applyable")
			return
		}
		o := w.acts("terraform/apply-refresh", in, stepstest.NewSink())
		if o.Result != steps.Done || !strings.Contains(o.Response, "nothing else was changed") {
			t.Fatalf("outcome = %+v", o)
		}
		if err := w.putBack(p); err != nil {
			t.Fatal(err)
		}
		now := w.state()
		if fmt.Sprint(now["outputs"]) != fmt.Sprint(was["outputs"]) || fmt.Sprint(now["resources"]) != fmt.Sprint(was["resources"]) {
			t.Errorf("state that was put back = %v, was %v", now, was)
		}
	})
}

// TestUpdateThatNeedsNothing applies a plan whose second change depends on a value
// that only the apply knows, and which comes out as it was: the tool skips it, and the
// apply is done.
func TestUpdateThatNeedsNothing(t *testing.T) {
	t.Parallel()
	const config = `
resource "terraform_data" "a" { input = "%s" }
resource "terraform_data" "b" { input = length(terraform_data.a.output) }
`
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "local", fmt.Sprintf(config, "old"))
		w.run("apply", "-auto-approve", "-input=false")
		ok(t, os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(fmt.Sprintf(config, "new")), 0o600))
		obs, in := w.saved(nil)
		if got := obs.Facts["addresses"].Strings(); len(got) != 2 {
			t.Fatalf("the plan acts on %v, want both", got)
		}
		o := w.acts("terraform/apply-plan", in, stepstest.NewSink())
		if o.Result != steps.Done || !strings.Contains(o.Response, "Applied: 1 change complete. Not needed, as the values came out as they were: terraform_data.b.") {
			t.Errorf("outcome = %s %s", o.Result, o.Response)
		}
	})
}
