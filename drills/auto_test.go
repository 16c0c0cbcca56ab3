package drills_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/drills"
	"handrail/session"
)

// tell passes the talk of a walk to the log of the test.
type tell struct{ t *testing.T }

func (w tell) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// run walks a scene headless and checks what holds for every scene: it is as
// the drill expects, nothing is left of it, and its bundle keeps the laws.
func run(t *testing.T, variant string) drills.Report {
	t.Helper()
	o, c := world(t)
	rep, err := drills.RunAuto(t.Context(), o, c, scene(t, "killed-runner", variant), tell{t})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Failed {
		t.Error(f)
	}
	for _, line := range rep.Debrief {
		t.Log(line)
	}
	if _, err := os.Stat(filepath.Join(o.State, "drills", "killed-runner")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the drill is not stopped: %v", err)
	}
	audit, err := session.Audit(rep.Bundle, o.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range audit.Lines {
		if !l.OK {
			t.Errorf("audit of the bundle: %s: %s", l.Property, l.Detail)
		}
	}
	return rep
}

func TestKilledRunnerRecovers(t *testing.T) {
	t.Parallel()
	rep := run(t, "")
	if rep.Code != 0 || rep.Session.Outcome != "recovered" {
		t.Errorf("code %d, outcome %q, want 0 and recovered", rep.Code, rep.Session.Outcome)
	}
	if rep.Proof.Acts != 1 || len(rep.Proof.Writes) == 0 {
		t.Errorf("proof: %d acts, writes %+v, want one act and its writes", rep.Proof.Acts, rep.Proof.Writes)
	}
}

// TestLiveHolderIsRefused lets the script lie about a holder whose lock looks
// old: the refusal must come from the process itself, and name it.
func TestLiveHolderIsRefused(t *testing.T) {
	t.Parallel()
	rep := run(t, "live-holder")
	if rep.Code != 4 {
		t.Errorf("code %d, want 4", rep.Code)
	}
	if !strings.Contains(rep.Session.Why, "process ") {
		t.Errorf("the refusal does not name the process: %q", rep.Session.Why)
	}
	if rep.Proof.Acts != 0 || len(rep.Proof.Writes) != 0 {
		t.Errorf("something was changed: %+v", rep.Proof)
	}
}
