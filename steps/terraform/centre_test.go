package terraform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/state"
)

// ask asks one question about the world's directory.
func (w *world) ask(question string) steps.Answer {
	w.t.Helper()
	a, ok := state.Ask(w.t.Context(), w.env, question, func(string) {})
	if !ok || a.Question != question {
		w.t.Fatalf("%s: %+v, %v", question, a, ok)
	}
	return a
}

func (w *world) put(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func wantWhats(t *testing.T, a steps.Answer, want ...string) {
	t.Helper()
	if len(a.Rows) != len(want) {
		t.Errorf("%s: %+v, want %d rows", a.Question, a.Rows, len(want))
		return
	}
	for i, what := range want {
		if !strings.Contains(a.Rows[i].What, what) {
			t.Errorf("%s: row %d is %q, want %q in it", a.Question, i, a.Rows[i].What, what)
		}
	}
}

// TestCentreLocal reads what real runs leave in a directory.
func TestCentreLocal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", "resource \"terraform_data\" \"a\" {}\n")
	w.run("apply", "-auto-approve", "-input=false", "-no-color")
	for _, q := range []string{steps.LockedRuns, steps.PartialApplies, steps.RepairedState} {
		if a := w.ask(q); len(a.Rows)+len(a.Gaps) > 0 || len(a.Seen) == 0 {
			t.Errorf("%s: %+v, want nothing in what was seen", q, a)
		}
	}
	if a := w.ask(steps.OpenDrift); len(a.Gaps) != 1 || a.Gaps[0].Kind != steps.NotAsked || len(a.Seen) > 0 {
		t.Errorf("%+v, want not asked", a)
	}
	w.run("taint", "-no-color", "terraform_data.a")
	w.put("errored.tfstate", "{}")
	wantWhats(t, w.ask(steps.PartialApplies), "errored.tfstate", "1 tainted")
	w.run("state", "mv", "terraform_data.a", "terraform_data.b")
	a := w.ask(steps.RepairedState)
	wantWhats(t, a, "state mv")
	if len(a.Rows) > 0 && time.Since(a.Rows[0].Since) > time.Hour {
		t.Errorf("since %s", a.Rows[0].Since)
	}
	old := fmt.Sprintf("terraform.tfstate.%d.backup", time.Now().Add(-2*7*24*time.Hour).Unix())
	w.put(old, "{}")
	wantWhats(t, w.ask(steps.RepairedState), "state mv")
	w.put("terraform.tfstate", "{ not whole")
	wantWhats(t, w.ask(steps.PartialApplies), "errored.tfstate", "broken")
}

// TestCentreKilledRun: the lock is gone with its holder, what it said stays.
func TestCentreKilledRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", "resource \"terraform_data\" \"a\" {}\n")
	w.put(".terraform.tfstate.lock.info", `{"ID":"1","Operation":"OperationTypeApply","Who":"ana@laptop","Created":"2026-11-20T01:27:00Z"}`)
	a := w.ask(steps.PartialApplies)
	wantWhats(t, a, "killed while it held the lock")
	if len(a.Rows) > 0 && a.Rows[0].Owner != "ana@laptop" {
		t.Errorf("%+v", a.Rows[0])
	}
	wantWhats(t, w.ask(steps.LockedRuns))
}

// TestCentreLease finds the lock of a workspace whose state is in a cluster, and
// the runbook for it.
func TestCentreLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", "resource \"terraform_data\" \"a\" {}\n")
	w.run("apply", "-auto-approve", "-input=false", "-no-color")
	wantWhats(t, w.ask(steps.LockedRuns))
	wantWhats(t, w.ask(steps.PartialApplies)) // the Lease keeps what its last holder said
	w.editLease(func(lease map[string]any) {
		lease["spec"].(map[string]any)["holderIdentity"] = "5e1c9a70"
		lease["metadata"].(map[string]any)["annotations"] = map[string]any{"app.terraform.io/lock-info": `{"ID":"5e1c9a70","Operation":"OperationTypeApply","Who":"runner@ci","Created":"2026-11-20T01:27:00Z"}`}
	})
	a := w.ask(steps.LockedRuns)
	wantWhats(t, a, "OperationTypeApply")
	if len(a.Rows) > 0 {
		r := a.Rows[0]
		if r.Runbook != "state-lock" || r.Params["dir"] != "." || r.Params["workspace"] != "default" || r.Owner != "runner@ci" || r.Where != w.ns.Name+"/lock-tfstate-default-"+w.suffix() {
			t.Errorf("%+v", r)
		}
	}
	w.env.Environ = append(w.env.Environ, "KUBE_CONFIG_PATH="+filepath.Join(w.dir, "none"))
	if a := w.ask(steps.LockedRuns); len(a.Gaps) == 0 || len(a.Seen) > 0 {
		t.Errorf("%+v, want a gap", a)
	}
}

// TestCentreNoWorkspace: a directory without one is no place to look.
func TestCentreNoWorkspace(t *testing.T) {
	t.Parallel()
	env := steps.Env{Dir: t.TempDir(), Now: time.Now}
	for _, q := range steps.Questions() {
		a, ok := state.Ask(t.Context(), env, q.ID, func(string) {})
		if ok && (len(a.Gaps) != 1 || a.Gaps[0].Kind != steps.Absent || a.Gaps[0].Brief() != "no workspace here") {
			t.Errorf("%s: %+v", q.ID, a)
		}
	}
}
