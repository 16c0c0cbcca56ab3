package terraform

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/change"
)

func (w *world) holderParams(lock steps.Observation) steps.Params {
	return steps.Params{"who": lock.Facts["who"], "created": lock.Facts["created"], "operation": lock.Facts["operation"]}
}

func (w *world) preview(id string) steps.Preview {
	w.t.Helper()
	p, err := change.UnlockGate{Env: w.env}.Preview(w.t.Context(), steps.Params{"lock_id": steps.IdentOf(id)}, stepstest.NewSink())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func unmet(p steps.Preview) string {
	var out []string
	for _, n := range p.Unmet {
		out = append(out, n.Why)
	}
	return strings.Join(out, "\n")
}

func wantUnmet(t *testing.T, p steps.Preview, part string) {
	t.Helper()
	if !strings.Contains(unmet(p), part) {
		t.Errorf("unmet = %q, want %q among it", unmet(p), part)
	}
}

// TestKilledApply walks the main incident on a real API server and a real tofu.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", sixSlow)
	began := time.Now()
	cmd, log := w.apply()
	live := w.probe("terraform/lock", nil)
	if got := w.probe("terraform/holder", w.holderParams(live)); got.Facts["alive"].Text() != "alive" || got.Facts["processes"].Int() != 1 || !got.Facts["here"].Bool() {
		t.Errorf("holder of a live run = %v (%s)", got.Facts, got.Summary)
	}
	w.killTool(cmd)

	lock := w.probe("terraform/lock", nil)
	id := lock.Facts["id"].Text()
	if !lock.Facts["held"].Bool() || len(id) != 36 || lock.Facts["operation"].Text() != "OperationTypeApply" ||
		!lock.Facts["own"].Bool() || lock.Facts["backend"].Text() != "kubernetes" || lock.Facts["host"].Text() != w.env.Host {
		t.Errorf("lock = %v", lock.Facts)
	}
	if c := lock.Facts["cluster"].Text(); !strings.Contains(c, w.lab.UID()) || !strings.HasPrefix(c, w.lab.URL()) {
		t.Errorf("cluster = %q, want the lab's %s %s", c, w.lab.URL(), w.lab.UID())
	}
	if age := lock.Facts["age"]; !age.Known() && !strings.Contains(age.Why(), "future") {
		t.Errorf("age = unknown: %s", age.Why())
	}
	run := w.probe("terraform/log", steps.Params{"file": steps.PathOf(log)})
	if run.Facts["started"].Int() != 3 || run.Facts["completed"].Int() != 2 || run.Facts["finished"].Bool() ||
		!slices.Equal(run.Facts["started_addresses"].Strings(), []string{"terraform_data.c"}) {
		t.Errorf("log = %v", run.Facts)
	}
	state := w.probe("terraform/state", nil)
	if !state.Facts["exists"].Bool() || !state.Facts["serial"].Known() || state.Facts["resources"].Int() != 0 || !state.Facts["written"].Known() {
		t.Errorf("state = %v", state.Facts)
	}
	holder := w.probe("terraform/holder", w.holderParams(lock))
	if alive := holder.Facts["alive"]; alive.Known() || !strings.Contains(alive.Why(), "that a provisioner began still runs") || holder.Facts["orphans"].Int() == 0 {
		t.Errorf("holder after the kill = %v %v, want unknown with orphans", holder.Facts, holder.Findings)
	}
	wantUnmet(t, w.preview(id), "is what a run left behind, and may still change the world: ")
	endKilled(t, cmd.Process.Pid)
	if holder = w.probe("terraform/holder", w.holderParams(lock)); holder.Facts["alive"].Text() != "dead" {
		t.Errorf("holder after its children ended = %v %v, want dead", holder.Facts, holder.Findings)
	}

	wantUnmet(t, w.preview(id), "old; younger than")
	// The clock of the holder alone makes no lock old.
	w.editLease(func(lease map[string]any) { redate(t, lease, 47*time.Minute) })
	wantUnmet(t, w.preview(id), "the clock of the holder is wrong, or the lock was written again")
	if age := w.probe("terraform/lock", nil).Facts["age"]; age.Known() {
		t.Errorf("age = %s by a clock that the server contradicts", age.Text())
	}
	w.editLease(func(lease map[string]any) { redate(t, lease, -47*time.Minute) })
	w.backdate(47 * time.Minute)
	wantUnmet(t, w.preview("00000000-0000-0000-0000-000000000000"), "someone else took it")
	if p, err := (change.UnlockGate{Env: w.env}).Preview(t.Context(), steps.Params{"lock_id": steps.IdentOf(id), "max_apply": steps.DurationOf(time.Hour)}, stepstest.NewSink()); err != nil {
		t.Error(err)
	} else {
		wantUnmet(t, p, "younger than 1h0m0s")
	}
	p := w.preview(id)
	if len(p.Unmet) > 0 || p.Phrase != "force-unlock "+id[:8] || len(p.Owes) != 1 {
		t.Fatalf("preview = %+v, want it open", p)
	}
	if again := w.preview(id); again.Digest("i", "s") != p.Digest("i", "s") {
		t.Error("two previews of one target differ in digest")
	}
	approval, err := steps.Confirm(w.preview(id), "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		t.Fatal(err)
	}
	o, err := change.UnlockGate{Env: w.env}.Act(t.Context(), approval, stepstest.NewSink())
	if err != nil || o.Result != steps.Done || steps.Find(o.After, "lock id") != "" {
		t.Fatalf("Act() = %+v, %v, want done", o, err)
	}
	if _, err := (change.UnlockGate{Env: w.env}).Act(t.Context(), approval, stepstest.NewSink()); !errors.Is(err, steps.ErrSpent) {
		t.Errorf("a second Act() = %v, want ErrSpent", err)
	}
	if after := w.probe("terraform/lock", nil); after.Facts["held"].Bool() {
		t.Error("the lock is still held")
	}
	if code := w.patchLease(p.Prior.Raw); code != http.StatusOK {
		t.Fatalf("giving the lock back: %d", code)
	}
	if back := w.probe("terraform/lock", nil); back.Facts["id"].Text() != id || back.Facts["who"].Text() != lock.Facts["who"].Text() {
		t.Errorf("the lock that was given back = %v", back.Facts)
	}
	if code := w.patchLease(p.Prior.Raw); code == http.StatusOK {
		t.Error("a lock that somebody holds was given away")
	}
	w.run("force-unlock", "-force", id)
	if after := w.probe("terraform/state", nil); after.Facts["serial"].Int() != state.Facts["serial"].Int() {
		t.Error("the serial moved")
	}
	plan := w.probe("terraform/plan", nil)
	if plan.Facts["exit"].Int() != 2 || plan.Facts["add"].Int() != 6 || len(plan.Facts["changed"].Strings()) != 6 || len(plan.Findings) > 0 {
		t.Errorf("plan = %v %v, want 6 to add", plan.Facts, plan.Findings)
	}
	// Every write by the operator is the one of the act.
	events, err := w.lab.AuditEvents(t.Context(), lab.AuditFilter{User: w.ns.Operator, Since: began})
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	for _, e := range events {
		if e.Persists() {
			writes++
			if e.Resource != "leases" || e.Verb != "update" {
				t.Errorf("the operator did %s %s/%s", e.Verb, e.Resource, e.Name)
			}
		}
	}
	if writes != 1 {
		t.Errorf("the operator wrote %d times, want once", writes)
	}
}

func TestLiveHolderIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", sixSlow)
	w.apply()
	id := w.probe("terraform/lock", nil).Facts["id"].Text()
	p := w.preview(id)
	wantUnmet(t, p, "The holder is alive: process")
	w.backdate(47 * time.Minute)
	p = w.preview(id)
	if len(p.Unmet) == 0 {
		t.Error("a live run is no reason to refuse once its lock looks old")
	}
	if _, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); !errors.Is(err, steps.ErrUnmet) {
		t.Errorf("Confirm() = %v, want ErrUnmet", err)
	}
}

// TestLockMoves lets the lock vanish and change between preview and act.
func TestLockMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", sixSlow)
	cmd, _ := w.apply()
	w.kill(cmd)
	w.backdate(time.Hour)
	id := w.probe("terraform/lock", nil).Facts["id"].Text()
	approve := func() *steps.Approval {
		p := w.preview(id)
		a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	gone, taken, elsewhere := approve(), approve(), approve()
	other := w.env
	other.Environ = append(slices.Clone(other.Environ), "TF_WORKSPACE=prod")
	if o, err := (change.UnlockGate{Env: other}).Act(t.Context(), elsewhere, stepstest.NewSink()); err != nil || o.Result != steps.Refused {
		t.Errorf("Act() in another workspace = %+v, %v, want refused", o, err)
	}
	w.editLease(func(l map[string]any) {
		l["spec"].(map[string]any)["holderIdentity"] = "11111111-1111-1111-1111-111111111111"
	})
	if o, err := (change.UnlockGate{Env: w.env}).Act(t.Context(), taken, stepstest.NewSink()); err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "11111111") {
		t.Errorf("Act() on a lock of somebody else = %+v, %v, want refused", o, err)
	}
	w.editLease(func(l map[string]any) { delete(l["spec"].(map[string]any), "holderIdentity") })
	if o, err := (change.UnlockGate{Env: w.env}).Act(t.Context(), gone, stepstest.NewSink()); err != nil || o.Result != steps.Refused {
		t.Errorf("Act() on a lock that is gone = %+v, %v, want refused", o, err)
	}
	wantUnmet(t, w.preview(id), "No lock is held")
	w.editLease(func(l map[string]any) {
		l["spec"].(map[string]any)["holderIdentity"] = id
		delete(l["metadata"].(map[string]any)["annotations"].(map[string]any), "app.terraform.io/lock-info")
	})
	bare := w.probe("terraform/lock", nil)
	if !bare.Facts["held"].Bool() || bare.Facts["id"].Text() != id || bare.Facts["who"].Known() || bare.Facts["age"].Known() {
		t.Errorf("lock without annotation = %v", bare.Facts)
	}
	wantUnmet(t, w.preview(id), "age of the lock is unknown")
}

// TestAbsentStateStaysAbsent runs everything against a workspace without state.
func TestAbsentStateStaysAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", `resource "terraform_data" "a" {}`)
	// init has made the state of the default workspace, not this one.
	absent := steps.Params{"workspace": text("absent")}
	began := time.Now()
	if lock := w.probe("terraform/lock", absent); lock.Facts["held"].Bool() || !lock.Facts["held"].Known() {
		t.Errorf("lock = %v", lock.Facts)
	}
	if state := w.probe("terraform/state", absent); state.Facts["exists"].Bool() || !state.Facts["exists"].Known() || state.Facts["serial"].Known() {
		t.Errorf("state = %v", state.Facts)
	}
	if _, err := probe(t.Context(), w.env, "terraform/plan", absent, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "no state here") {
		t.Errorf("plan = %v, want no state here", err)
	}
	p, err := change.UnlockGate{Env: w.env}.Preview(t.Context(), steps.Params{"workspace": text("absent"), "lock_id": steps.IdentOf("11111111-1111-1111-1111-111111111111")}, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"No lock is held", "force-unlock would create one", `workspace in effect is "absent"`} {
		wantUnmet(t, p, part)
	}
	events, err := w.lab.AuditEvents(t.Context(), lab.AuditFilter{Namespace: w.ns.Name, Since: began})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Persists() && (e.Resource == "leases" || e.Resource == "secrets") {
			t.Errorf("%s did %s %s/%s", e.User, e.Verb, e.Resource, e.Name)
		}
	}
	w.run("apply", "-auto-approve", "-input=false", "-no-color")
	if plan := w.probe("terraform/plan", nil); !plan.Facts["clean"].Bool() || plan.Facts["exit"].Int() != 0 {
		t.Errorf("plan after an apply = %v", plan.Facts)
	}
	if plan := w.probe("terraform/plan", steps.Params{"refresh_only": steps.BoolOf(true)}); plan.Facts["exit"].Int() != 0 {
		t.Errorf("refresh-only plan = %v", plan.Facts)
	}
	if state := w.probe("terraform/state", nil); state.Facts["resources"].Int() != 1 || !slices.Equal(state.Facts["addresses"].Strings(), []string{"terraform_data.a"}) {
		t.Errorf("state = %v", state.Facts)
	}
	w.env.Trusted = func(string) error { return errors.New("run `handrail runbook trust` first") }
	if _, err := probe(t.Context(), w.env, "terraform/plan", nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "trust") {
		t.Errorf("plan in a directory that is not trusted = %v", err)
	}
}

func TestLocalLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", sixSlow)
	cmd, _ := w.apply()
	lock := w.probe("terraform/lock", nil)
	if !lock.Facts["held"].Bool() || lock.Facts["backend"].Text() != "local" || !lock.Facts["age"].Known() || lock.Facts["cluster"].Text() != "" {
		t.Errorf("lock = %v", lock.Facts)
	}
	if say := lock.Findings; len(say) == 0 || !strings.Contains(say[0].Say, "alive") {
		t.Errorf("findings = %v, want the holder's process", say)
	}
	wantUnmet(t, w.preview(lock.Facts["id"].Text()), "cannot be unlocked by another process")
	w.kill(cmd)
	left := w.probe("terraform/lock", nil)
	if left.Facts["held"].Bool() || left.Facts["id"].Known() || len(left.Findings) != 1 || !strings.Contains(left.Findings[0].Say, "Leftover") {
		t.Errorf("lock after the kill = %v %v", left.Facts, left.Findings)
	}
	state := w.probe("terraform/state", nil)
	if !state.Facts["exists"].Bool() || state.Facts["serial"].Known() || len(state.Findings) != 1 || !strings.Contains(state.Findings[0].Say, "empty") {
		t.Errorf("state = %v %v, want it empty", state.Facts, state.Findings)
	}
}

func TestKubernetesTrouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", `resource "terraform_data" "a" {}`)
	with := func(key, value string) steps.Env {
		env := w.env
		env.Environ = append(slices.Clone(env.Environ), key+"="+value)
		return env
	}
	for _, tc := range []struct {
		name string
		env  steps.Env
		want []string
	}{
		{"expired credentials", with("KUBE_TOKEN", "nobody"), []string{"401", "sign in"}},
		{"unreachable", with("KUBE_HOST", "https://127.0.0.1:1"), []string{"cannot be reached", "127.0.0.1:1"}},
		{"no kubeconfig", with("KUBE_CONFIG_PATH", "/nonexistent/kubeconfig"), []string{"kubeconfig", "KUBE_CONFIG_PATH"}},
		{"invalid workspace", with("TF_WORKSPACE", "../../etc"), []string{"no valid name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []string{"terraform/lock", "terraform/state"} {
				_, err := probe(t.Context(), tc.env, kind, nil, stepstest.NewSink())
				for _, part := range tc.want {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("%s = %v, want %q in it", kind, err, part)
					}
				}
			}
		})
	}
	t.Run("forbidden", func(t *testing.T) {
		t.Parallel()
		other, err := w.lab.Namespace(t.Context(), "steps")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.lab.VacateNamespace(context.Background(), other.Name) })
		_, err = probe(t.Context(), with("KUBE_CONFIG_PATH", other.OperatorKubeconfig), "terraform/lock", nil, stepstest.NewSink())
		for _, part := range []string{"forbidden", "get leases", "lock-tfstate-default-" + w.suffix(), "namespace " + w.ns.Name} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("error = %v, want %q in it", err, part)
			}
		}
	})
	t.Run("wrong clock", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "kubernetes", sixSlow)
		cmd, _ := w.apply()
		w.kill(cmd)
		w.env.Now = func() time.Time { return time.Now().Add(time.Hour) }
		lock := w.probe("terraform/lock", nil)
		if age := lock.Facts["age"]; age.Known() || !strings.Contains(age.Why(), "clocks") {
			t.Errorf("age = %v", age)
		}
		w.env.Now = time.Now
		w.backdate(-time.Hour)
		lock = w.probe("terraform/lock", nil)
		if age := lock.Facts["age"]; age.Known() || !strings.Contains(age.Why(), "future") {
			t.Errorf("age = %v", age)
		}
	})
}
