//go:build unix

package lab

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// options are those of a lab of this test alone, on the shared binaries.
func options(t *testing.T) Options {
	t.Helper()
	o := Options{Dir: filepath.Join(t.TempDir(), "lab"), Ephemeral: true, Progress: func(p Progress) {
		if p.Stage == StageWait || p.Stage == StageReady {
			t.Logf("%s %s %s %s", p.Part, p.Stage, p.Elapsed.Round(time.Millisecond), p.Text)
		}
	}}
	t.Cleanup(func() { down(t, o) })
	return o
}

func up(t *testing.T, o Options) *Lab {
	t.Helper()
	l, err := Up(t.Context(), o)
	if err != nil {
		t.Fatalf("Up() = %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return l
}

// down fails when a process or a file is left.
func down(t *testing.T, o Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	var s state
	if err := read(o.Dir, fileState, &s); err != nil {
		t.Error(err)
	}
	if err := Down(ctx, o); err != nil {
		t.Errorf("Down() = %v", err)
	}
	for _, p := range append(s.Processes, s.Supervisor) {
		if p.runs(s.BootID) {
			t.Errorf("Down() left %s (pid %d)", p.Name, p.PID)
		}
	}
	if _, err := os.Stat(o.Dir); !os.IsNotExist(err) {
		t.Errorf("Down() left %q: %v", o.Dir, err)
	}
}

func pids(t *testing.T, l *Lab) map[string]int {
	t.Helper()
	st, err := l.Status(t.Context())
	if err != nil || !st.Running {
		t.Fatalf("Status() = %+v, %v; want a running lab", st, err)
	}
	found := map[string]int{}
	for _, p := range st.Processes {
		found[p.Name] = p.PID
	}
	return found
}

func TestLab(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Lease = "first"
	l := up(t, o)
	t.Run("private", func(t *testing.T) { checkPrivate(t, l) })
	t.Run("etcd asks who it is", func(t *testing.T) { checkEtcd(t, l) })
	t.Run("loopback only", func(t *testing.T) { checkLoopback(t, l) })
	t.Run("second up reuses", func(t *testing.T) { checkReuse(t, o, l) })
	t.Run("open and env", func(t *testing.T) { checkOpen(t, o, l) })
	t.Run("namespace", func(t *testing.T) { checkNamespace(t, l) })
	t.Run("tofu", func(t *testing.T) { checkTofu(t, l) })
	t.Run("heals after a kill", func(t *testing.T) { checkHeal(t, o, l) })
}

func checkPrivate(t *testing.T, l *Lab) {
	err := filepath.WalkDir(l.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		// The servers make their own folders inside ours, which no other user can enter.
		if err == nil && filepath.Dir(path) == l.Dir() && !d.IsDir() && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(l.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data directory has mode %v (%v), want 0700", info.Mode(), err)
	}
}

func checkReuse(t *testing.T, o Options, l *Lab) {
	before := pids(t, l)
	var wg sync.WaitGroup
	for _, lease := range []string{"second", "third"} {
		wg.Go(func() {
			again := o
			again.Lease = lease
			other, err := Up(t.Context(), again)
			if err != nil {
				t.Errorf("Up() = %v", err)
				return
			}
			if other.UID() != l.UID() {
				t.Errorf("Up() made cluster %s, want %s again", other.UID(), l.UID())
			}
			st, err := other.Status(t.Context())
			if err != nil || !strings.Contains(strings.Join(st.Leases, " "), lease) {
				t.Errorf("Status() lists leases %q (%v), want %q among them", st.Leases, err, lease)
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for name, pid := range pids(t, l) {
		if before[name] != pid {
			t.Errorf("%s is now pid %d, was %d", name, pid, before[name])
		}
	}
}

func checkOpen(t *testing.T, o Options, l *Lab) {
	other, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if other.TofuPath() != l.TofuPath() || !isProgram(other.TofuPath()) {
		t.Errorf("TofuPath() = %q, want %q", other.TofuPath(), l.TofuPath())
	}
	raw, err := os.ReadFile(other.Kubeconfig())
	if err != nil || !strings.Contains(string(raw), `current-context: "handrail-lab"`) {
		t.Errorf("the admin kubeconfig: %v\n%s", err, raw)
	}
	for _, want := range []string{"export KUBECONFIG='", "export KUBE_CONFIG_PATH='", "export PATH='" + filepath.Dir(l.TofuPath()) + ":"} {
		if !strings.Contains(other.Script(), want) {
			t.Errorf("Script() lacks %q:\n%s", want, other.Script())
		}
	}
	st, err := l.Status(t.Context())
	if err != nil || st.Versions != (Versions{Kubernetes: "v1.36.3", Etcd: "v3.6.8"}) || st.Memory == 0 || st.UID != l.UID() || st.Stays {
		t.Errorf("Status() = %+v, %v", st, err)
	}
	t.Logf("memory: %d MiB in all; %+v", st.Memory>>20, st.Processes)
}

// token reads what Namespace wrote, as any client would.
func token(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), `token: "`)
	tok, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("%s holds no token", path)
	}
	return tok
}

func checkNamespace(t *testing.T, l *Lab) {
	ctx := t.Context()
	ns, err := l.Namespace(ctx, "drill")
	if err != nil {
		t.Fatal(err)
	}
	operator, robot := l.client.as(token(t, ns.OperatorKubeconfig)), l.client.as(token(t, ns.RobotKubeconfig))
	secrets := core(ns.Name, "secrets")
	leases := "/apis/coordination.k8s.io/v1/namespaces/" + ns.Name + "/leases"
	for _, write := range []struct {
		as         *client
		method, to string
		body       any
	}{
		{robot, http.MethodPost, leases, object{"metadata": named("lock")}},
		{operator, http.MethodPost, secrets, object{"metadata": named("state"), "stringData": object{"k": "s3cr3t"}}},
		{operator, http.MethodPost, secrets + "?dryRun=All", object{"metadata": named("dry")}},
		{operator, http.MethodDelete, leases + "/lock", nil},
	} {
		if err := write.as.do(ctx, write.method, write.to, write.body, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := operator.do(ctx, http.MethodPost, core("default", "secrets"), object{"metadata": named("x")}, nil); !hasCode(err, http.StatusForbidden) {
		t.Errorf("a write in another namespace = %v, want 403", err)
	}
	checkRights(t, ns, robot, operator)
	uid, err := operator.kubeSystemUID(ctx)
	if err != nil || !l.IsLabUID(uid) || l.IsLabUID("") || l.IsLabUID("another") {
		t.Errorf("IsLabUID(%q), %v", uid, err)
	}
	checkAudit(t, l, ns)
	vacates(t, l)
	if err := l.DeleteNamespace(ctx, ns.Name); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ns.OperatorKubeconfig); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig outlives its namespace: %v", err)
	}
}

// vacates wants a namespace that is vacated to be there, with nothing in it that works.
func vacates(t *testing.T, l *Lab) {
	t.Helper()
	ctx := t.Context()
	ns, err := l.Namespace(ctx, "left")
	if err != nil {
		t.Fatal(err)
	}
	cron := "/apis/batch/v1/namespaces/" + ns.Name + "/cronjobs"
	pod := object{"restartPolicy": "Never", "containers": []object{{"name": "a", "image": "none.example/a"}}}
	for path, body := range map[string]object{
		core(ns.Name, "configmaps"): {"metadata": named("a")},
		cron:                        {"metadata": named("a"), "spec": object{"schedule": "* * * * *", "jobTemplate": object{"spec": object{"template": object{"spec": pod}}}}},
	} {
		if err := l.client.do(ctx, http.MethodPost, path, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.VacateNamespace(ctx, ns.Name); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{core(ns.Name, "configmaps/a"), cron + "/a", bindings + "/" + readers(ns.Name)} {
		if err := l.client.do(ctx, http.MethodGet, path, nil, nil); !hasCode(err, http.StatusNotFound) {
			t.Errorf("%s = %v, want it gone", path, err)
		}
	}
	var there struct{ Status struct{ Phase string } }
	if err := l.client.do(ctx, http.MethodGet, "/api/v1/namespaces/"+ns.Name, nil, &there); err != nil || there.Status.Phase != "Active" {
		t.Errorf("the namespace is %q, %v, want it there", there.Status.Phase, err)
	}
}

// checkRights wants both accounts to see everything, and only robot to say what a Pod is like: an operator who could
// might make a dead controller look alive.
func checkRights(t *testing.T, ns Namespace, robot, operator *client) {
	for _, tc := range []struct {
		name            string
		right           object
		robot, operator bool
	}{
		{"status of a pod", object{"namespace": ns.Name, "verb": "patch", "resource": "pods", "subresource": "status"}, true, false},
		{"status of a deployment", object{"namespace": ns.Name, "verb": "patch", "group": "apps", "resource": "deployments", "subresource": "status"}, true, false},
		{"any resource", object{"namespace": ns.Name, "verb": "list", "group": "networking.k8s.io", "resource": "ingresses"}, true, true},
		{"api services", object{"verb": "list", "group": "apiregistration.k8s.io", "resource": "apiservices"}, true, true},
		{"definitions", object{"verb": "get", "group": "apiextensions.k8s.io", "resource": "customresourcedefinitions"}, true, true},
		{"another namespace", object{"namespace": "default", "verb": "list", "resource": "pods"}, false, false},
		{"roles", object{"namespace": ns.Name, "verb": "create", "group": "rbac.authorization.k8s.io", "resource": "rolebindings"}, false, false},
	} {
		for who, c := range map[string]*client{"robot": robot, "operator": operator} {
			got, err := c.may(t.Context(), []object{tc.right})
			if want := map[string]bool{"robot": tc.robot, "operator": tc.operator}[who]; err != nil || got != want {
				t.Errorf("%s: %s may = %v, %v, want %v", tc.name, who, got, err, want)
			}
		}
	}
}

func checkAudit(t *testing.T, l *Lab, ns Namespace) {
	for user, want := range map[string]string{
		ns.Robot:    "create leases/lock",
		ns.Operator: "create secrets/state, delete leases/lock",
	} {
		events, err := l.AuditEvents(t.Context(), AuditFilter{User: user})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			if e.Persists() {
				got = append(got, e.Verb+" "+e.Resource+"/"+e.Name)
				if e.ID == "" || e.UserAgent != UserAgent || e.Namespace != ns.Name || e.Received.IsZero() || e.Completed.Before(e.Received) {
					t.Errorf("incomplete event %+v", e)
				}
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("writes of %s: %q, want %q", user, got, want)
		}
	}
	all, err := l.AuditEvents(t.Context(), AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if strings.HasPrefix(e.User, "system:") && !strings.HasPrefix(e.User, "system:serviceaccount:"+ns.Name+":") {
			t.Errorf("noise of the servers in the log: %+v", e)
		}
	}
	raw, err := os.ReadFile(filepath.Join(l.Dir(), fileAudit))
	if err != nil || strings.Contains(string(raw), "s3cr3t") || strings.Contains(string(raw), token(t, ns.RobotKubeconfig)) {
		t.Errorf("the audit log holds a secret (or %v)", err)
	}
}

func checkHeal(t *testing.T, o Options, l *Lab) {
	before := pids(t, l)
	if err := syscall.Kill(before["kube-apiserver"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	o.Lease = "healer"
	healed := up(t, o)
	if healed.UID() == l.UID() {
		t.Error("a half dead lab was reused")
	}
	for name, pid := range pids(t, healed) {
		if pid == before[name] {
			t.Errorf("%s was not started again", name)
		}
	}
	if _, err := l.Lease(t.Context(), "late"); err == nil {
		t.Error("a lease was given on a lab that is gone")
	}
}
