package terraform

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/tfstate"
)

const encrypted = `
terraform {
  backend "local" {}
  encryption {
    key_provider "pbkdf2" "k" { passphrase = "correct horse battery staple" }
    method "aes_gcm" "m" { keys = key_provider.pbkdf2.k }
    state { method = method.aes_gcm.m }
    plan { method = method.aes_gcm.m }
  }
}
resource "terraform_data" "a" { input = "x" }
`

// TestEncryptedByRealTofu: what tofu encrypted is named so, and nothing of it is
// guessed.
func TestEncryptedByRealTofu(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", encrypted)
	w.run("apply", "-auto-approve", "-input=false")
	first := w.keepState("first.copy")
	obs := w.probe("terraform/state", nil)
	if f := obs.Facts; f["condition"].Text() != "encrypted" || !f["encrypted"].Bool() || !f["serial"].Known() || f["resources"].Known() || f["types"].Known() {
		t.Errorf("state = %v", f)
	}
	obs = w.probe("terraform/state-diff", steps.Params{"before": fileParam(first)})
	if f := obs.Facts; f["same"].Known() || f["condition_after"].Text() != "encrypted" || f["lineage_changed"].Bool() {
		t.Errorf("diff = %v", f)
	}
	w.run("plan", "-destroy", "-input=false", "-out=p")
	_, err := probe(t.Context(), w.env, "terraform/plan-file", steps.Params{"file": fileParam("p")}, stepstest.NewSink())
	if err == nil || !strings.Contains(err.Error(), "encrypted") {
		t.Errorf("encrypted plan: %v", err)
	}
	if err := os.Rename(first, filepath.Join(w.dir, "errored.tfstate")); err != nil {
		t.Fatal(err)
	}
	if obs = w.probe("terraform/state-files", nil); obs.Facts["errored_fits"].Text() != "encrypted" || !said(obs, "scratch directory") {
		t.Errorf("files = %v %v", obs.Facts, obs.Findings)
	}
}

// TestSaveThatFailed: a real tofu whose backend refuses the last write leaves
// errored.tfstate two serials ahead, and says so in its log.
func TestSaveThatFailed(t *testing.T) {
	t.Parallel()
	var stored atomic.Value
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		state, _ := stored.Load().(string)
		switch {
		case r.Method == http.MethodGet && state == "":
			rw.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(rw, state)
		case broken.Load():
			rw.WriteHeader(http.StatusForbidden)
		default:
			b, _ := io.ReadAll(r.Body)
			stored.Store(string(b))
		}
	}))
	t.Cleanup(server.Close)
	unit := func(input string) string {
		return fmt.Sprintf("terraform {\n  backend \"http\" {\n    address = %q\n    retry_max = 0\n  }\n}\nresource \"terraform_data\" \"a\" { input = %q }\n", server.URL, input)
	}
	w := newWorld(t, "local", unit("one"))
	w.run("apply", "-auto-approve", "-input=false")
	before, err := tfstate.Read(strings.NewReader(stored.Load().(string)), tfstate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	w.lay("main.tf", unit("two"))
	cmd := exec.CommandContext(t.Context(), w.tofu, "apply", "-auto-approve", "-input=false")
	cmd.Dir, cmd.Env = w.dir, w.bot
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the apply did not fail:\n%s", out)
	}
	left, err := os.Open(filepath.Join(w.dir, "errored.tfstate"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	defer left.Close()
	d, err := tfstate.Read(left, tfstate.Options{})
	if err != nil || d.Condition() != tfstate.Sound || d.Serial != before.Serial+2 || d.Lineage != before.Lineage {
		t.Errorf("errored.tfstate = %+v, %v; stored serial %d", d, err, before.Serial)
	}
	obs := logOfRun(t, string(out))
	if f := obs.Facts; !f["save_failed"].Bool() || f["completed"].Int() == 0 || f["ending"].Text() != "failed" {
		t.Errorf("log = %v\n%s", f, out)
	}
}

// TestTornStateOfRealTofu names each way to break a real state, as tofu itself
// refuses it.
func TestTornStateOfRealTofu(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", threeThings)
	w.run("apply", "-auto-approve", "-input=false")
	whole, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"truncated": string(whole[:len(whole)/2]), "byte-order": "\ufeff" + string(whole), "trailing": string(whole) + string(whole), "html": "<html>502</html>",
		"merge-markers": strings.Replace(string(whole), `  "serial"`, "<<<<<<< HEAD\n  \"serial\"", 1), "foreign-json": `{"message":"no"}`,
		"future-format": strings.Replace(string(whole), `"version": 4`, `"version": 5`, 1), "invalid-field": strings.Replace(string(whole), `"serial": 1`, `"serial": -1`, 1),
		"duplicate-instance": strings.Replace(string(whole), `"index_key": 1`, `"index_key": 0`, 1),
	} {
		w.lay("terraform.tfstate", text)
		obs := w.probe("terraform/state", nil)
		if got := obs.Facts["condition"].Text(); got != want || len(obs.Findings) == 0 || obs.Facts["resources"].Known() && want != "invalid-field" {
			t.Errorf("%s is named %s: %v", want, got, obs.Findings)
		}
		cmd := exec.CommandContext(t.Context(), w.tofu, "state", "list")
		cmd.Dir, cmd.Env = w.dir, w.bot
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%s: tofu takes it:\n%s", want, out)
		}
	}
	// tofu takes an empty state for none, without an error.
	w.lay("terraform.tfstate", "")
	if obs := w.probe("terraform/state", nil); obs.Facts["condition"].Text() != "empty" || !said(obs, "a plan would create everything") {
		t.Errorf("empty state: %v %v", obs.Facts, obs.Findings)
	}
}
