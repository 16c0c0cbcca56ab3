package terraform

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestProgramsAlike: tofu and two versions of terraform do what the gates ask for,
// and the undo of each holds.
func TestProgramsAlike(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, name string) {
		w := newWorldOf(t, name, "local", threeKinds)
		w.run("apply", "-auto-approve", "-input=false", "-no-color")
		file, first := w.copyOfState()
		w.run("state", "rm", "terraform_data.b[1]")
		for _, step := range []struct {
			kind string
			in   steps.Params
		}{
			{"state-rm", addressParams("terraform_data.a", `terraform_data.c["q\"uo"]`)},
			{"state-mv", steps.Params{"from": text(`terraform_data.c["k.1"]`), "to": text(`module.x["a b"].terraform_data.c`)}},
			{"import", importParams("terraform_data.b[1]", "object")},
			{"restore-state", steps.Params{"file": steps.PathOf(file)}},
		} {
			was := w.ledger()
			p := w.opens(step.kind, step.in)
			if o := w.carry(step.kind, p); o.Result != steps.Done {
				t.Fatalf("%s = %+v", step.kind, o)
			}
			if o, err := w.find(step.kind, p, step.in); err != nil || o.Result != steps.Done {
				t.Errorf("Find() after %s = %+v, %v", step.kind, o, err)
			}
			w.undone(p, was)
		}
		w.overwrite("local", first.Raw[:len(first.Raw)/3])
		if said, err := w.tofuSays("state", "push", "-force", file); err == nil {
			t.Errorf("the program writes over a torn state by itself: %s", said)
		}
		w.restores(file, first)
	})
}

// entries is a root module of the provider that does everything badly.
func entries(t *testing.T, settings string) (w *world, ask func(method, path, body string)) {
	t.Helper()
	api := service(t, "records", t.TempDir())
	program, err := lab.Service(t.Context(), lab.Options{}, "records")
	if err != nil {
		t.Fatal(err)
	}
	mirror := t.TempDir()
	if _, err := lab.Mirror(mirror, program); err != nil {
		t.Fatal(err)
	}
	rc := filepath.Join(t.TempDir(), "tofu.rc")
	if err := os.WriteFile(rc, fmt.Appendf(nil, "provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror), 0o600); err != nil {
		t.Fatal(err)
	}
	w = newBackend(t, "local", "", fmt.Sprintf(`
terraform {
  required_providers {
    records = { source = "lab.example/lab/records", version = "0.1.0" }
  }
}
variable "token" { sensitive = true }
provider "records" {
  endpoint = %q
  token    = var.token
  %s
}
resource "records_entry" "a" {
  name  = "a"
  value = "one"
}
resource "records_entry" "b" {
  name  = "b"
  value = "two"
}
`, api.URL, settings), "TF_CLI_CONFIG_FILE="+rc, "TF_VAR_token="+envOf(t, api, "RECORDS_TOKEN"))
	robot := envOf(t, api, "RECORDS_ROBOT")
	return w, func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, api.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+robot)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %s", method, path, resp.Status)
		}
	}
}

// TestImportByProvider records what exists on a real API by a real provider, and
// nothing where the object is not there.
func TestImportByProvider(t *testing.T) {
	t.Parallel()
	w, ask := entries(t, `retry = "never"`)
	w.run("apply", "-auto-approve", "-input=false", "-no-color", "-target=records_entry.b")
	ask(http.MethodPut, "/entries/a", `{"value":"one","part":1}`)
	was := w.ledger()
	if o := w.carry("import", w.opens("import", importParams("records_entry.a", "gone"))); o.Result != steps.Failed || !strings.Contains(o.Response, "as it was") || w.ledger().Sum() != was.Sum() {
		t.Errorf("import of nothing = %+v", o)
	}
	wantUnmet(t, w.shows("import", importParams("records_entry.a", "b")), "recorded already, as records_entry.b")
	p := w.opens("import", importParams("records_entry.a", "a"))
	if o := w.carry("import", p); o.Result != steps.Done {
		t.Fatalf("import = %+v", o)
	}
	if plan := w.probe("terraform/plan", nil); plan.Facts["add"].Int() != 0 || plan.Facts["destroy"].Int() != 0 {
		t.Errorf("the plan after the import = %v", plan.Facts)
	}
	w.undone(p, was)
}

// TestInterruptedImport interrupts an import as soon as it runs: the program gets
// one interrupt and ends by itself, its lock goes with it, and what it came to is
// known.
func TestInterruptedImport(t *testing.T) {
	t.Parallel()
	w, ask := entries(t, `heeds_cancel = true`)
	w.run("apply", "-auto-approve", "-input=false", "-no-color", "-target=records_entry.b")
	ask(http.MethodPut, "/entries/a", `{"value":"one","part":1}`)
	was := w.ledger()
	a := w.approve(w.opens("import", importParams("records_entry.a", "a")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := &progressSink{Sink: stepstest.NewSink(), told: func(line string) {
		if strings.HasPrefix(line, "process ") {
			cancel()
		}
	}}
	o, err := w.gate("import").Act(ctx, a, sink)
	if err != nil {
		t.Fatal(err)
	}
	now := w.ledger()
	landed := len(now.At("records_entry.a")) > 0
	if landed != (o.Result == steps.Done) || !landed && now.Sum() != was.Sum() {
		t.Errorf("an interrupted import = %+v, recorded %v", o, landed)
	}
	if lock := w.probe("terraform/lock", nil); lock.Facts["held"].Bool() {
		t.Errorf("the lock after it = %v", lock.Facts)
	}
}

// progressSink tells what a step shows while it runs.
type progressSink struct {
	*stepstest.Sink
	told func(string)
}

func (s *progressSink) Line(line string) { s.told(line) }
