package drills_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/drills"
	"handrail/drills/lab"
)

// TestInjection starts the killed runner and looks at what is there: a lock
// with a holder, a log that breaks off, nothing recorded, and no write by the
// trainee's identity.
func TestInjection(t *testing.T) {
	t.Parallel()
	o, c := world(t)
	r, err := drills.Start(t.Context(), o, scene(t, "killed-runner", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drills.Start(t.Context(), o, scene(t, "killed-runner", "")); !errors.Is(err, drills.ErrRunning) {
		t.Errorf("a second start: %v, want ErrRunning", err)
	}
	vars, params := r.Vars(), r.Params()
	if len(vars["drill.lock_id"]) != 36 || vars["drill.serial"] == "unknown" || len(vars["drill.lineage"]) != 36 {
		t.Errorf("exported values: %v", vars)
	}
	if params["dir"] != r.Dir() || params["log"] != vars["drill.log"] {
		t.Errorf("parameters: %v", params)
	}
	log, err := os.ReadFile(params["log"])
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(log), "Creation complete"); got != 2 || strings.Contains(string(log), "Apply complete") {
		t.Errorf("the log tells of %d creations and may reach its end:\n%s", got, log)
	}
	j, err := r.Judge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if j.Won {
		t.Error("the drill is won before anything was done")
	}
	if !j.Conditions[1].Holds || !j.Conditions[2].Holds {
		t.Errorf("the state cannot be judged: %+v", j.Conditions)
	}
	writes, err := o.Lab.AuditEvents(t.Context(), lab.AuditFilter{User: r.Operator()})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range writes {
		if w.Persists() {
			t.Errorf("the injection wrote as operator: %s %s/%s by %s", w.Verb, w.Resource, w.Name, w.UserAgent)
		}
	}
	secrets, err := r.Secrets()
	if err != nil || len(secrets) != 2 {
		t.Errorf("Secrets() = %d tokens, %v, want 2", len(secrets), err)
	}
	c.Env.Context, c.Env.Kubectl = "prod", []string{"--server=https://prod:6443", "--token=t"}
	env := r.Env(c.Env)
	if env.Context != "" || env.Kubectl != nil || env.Kubeconfig == c.Env.Kubeconfig {
		t.Errorf("flags of the operator reach the drill: %q, %q, %q", env.Context, env.Kubectl, env.Kubeconfig)
	}
	if err := env.Trusted(r.Dir()); err != nil {
		t.Errorf("the drill's own directory is not trusted: %v", err)
	}
	if err := env.Trusted(filepath.Dir(r.Dir())); err == nil {
		t.Error("the directory above the drill's is trusted")
	}
	again, err := drills.Open(t.Context(), o, "killed-runner")
	if err != nil {
		t.Fatal(err)
	}
	if again.Vars()["drill.lock_id"] != vars["drill.lock_id"] {
		t.Errorf("opened again it has other values: %v", again.Vars())
	}
	if err := errors.Join(again.Close(), r.Close(), drills.Stop(t.Context(), o, r.ID())); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the drill is left: %v", err)
	}
	if err := drills.Stop(t.Context(), o, r.ID()); !errors.Is(err, drills.ErrNotStarted) {
		t.Errorf("a second stop: %v, want ErrNotStarted", err)
	}
}
