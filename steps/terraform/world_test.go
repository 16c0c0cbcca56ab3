package terraform

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// labOnce starts the shared lab at its first use.
type labOnce struct {
	once sync.Once
	lab  *lab.Lab
	err  error
}

func (o *labOnce) get() (*lab.Lab, error) {
	o.once.Do(func() {
		opts, err := lab.ForTests(fmt.Sprintf("steps-terraform-%d", os.Getpid()))
		if err == nil {
			o.lab, err = lab.Up(context.Background(), opts)
		}
		o.err = err
	})
	return o.lab, o.err
}

var shared labOnce

func TestMain(m *testing.M) {
	if text := os.Getenv(childOrder); text != "" {
		if err := actAsChild(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if err := emulator.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if shared.lab != nil {
		if err := shared.lab.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// world is a root module with a real tofu, and a real API server where the
// backend needs one.
type world struct {
	t    *testing.T
	lab  *lab.Lab
	ns   lab.Namespace
	dir  string
	tofu string
	env  steps.Env
	bot  []string // environment of the runs that break things
	// twice are the gates that were seen to be previewed alike two times.
	twice map[string]bool
}

func newWorld(t *testing.T, backend, config string) *world {
	t.Helper()
	return newWorldOf(t, "tofu", backend, config)
}

// newWorldOf is newWorld with another program: tofu, terraform or terraform15.
func newWorldOf(t *testing.T, program, backend, config string) *world {
	t.Helper()
	l, err := shared.get()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, lab: l, dir: t.TempDir(), tofu: programPath(t, l, program)}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	base := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "CI=true"} // in a job no kernel proves a death, wherever the tests run
	w.bot = base
	w.env = steps.Env{
		Dir: w.dir, Environ: base, Home: t.TempDir(), User: me.Username, Host: host, Now: time.Now,
		Tool:    func(string) (string, error) { return w.tofu, nil },
		Trusted: func(string) error { return nil },
	}
	w.env.Incident, w.env.Private = "20261122-test", filepath.Join(t.TempDir(), "plans", "20261122-test")
	if backend == "kubernetes" {
		if w.ns, err = l.Namespace(t.Context(), "steps"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.VacateNamespace(context.Background(), w.ns.Name) })
		w.bot = append(base[:len(base):len(base)], "KUBE_CONFIG_PATH="+w.ns.RobotKubeconfig)
		w.env.Environ = append(base[:len(base):len(base)], "KUBE_CONFIG_PATH="+w.ns.OperatorKubeconfig)
		config = fmt.Sprintf("terraform {\n  backend \"kubernetes\" {\n    secret_suffix = %q\n    namespace = %q\n  }\n}\n", w.suffix(), w.ns.Name) + config
	}
	if err := os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(config, "terraform {") { // else it would lay nothing
		w.run("init", "-input=false", "-no-color")
	}
	return w
}

// suffix names the state. Terraform takes a number at its end for that of a part
// of a large state, and panics.
func (w *world) suffix() string { return w.ns.Name + "-s" }

func (w *world) run(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.tofu, args...)
	cmd.Dir, cmd.Env = w.dir, append(w.bot[:len(w.bot):len(w.bot)], "GOGC=off") // it ends before its heap is worth cleaning
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("tofu %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// sixSlow completes two resources and then sleeps in the third.
const sixSlow = `
resource "terraform_data" "a" {
  provisioner "local-exec" { command = "true" }
}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
  provisioner "local-exec" { command = "true" }
}
resource "terraform_data" "c" {
  depends_on = [terraform_data.b]
  provisioner "local-exec" { command = "sleep 600" }
}
resource "terraform_data" "d" {
  depends_on = [terraform_data.c]
}
resource "terraform_data" "e" {
  depends_on = [terraform_data.d]
}
resource "terraform_data" "f" {
  depends_on = [terraform_data.e]
}
`

// apply starts an apply, returns when its provisioner runs, and ends all of it
// with the test.
func (w *world) apply() (cmd *exec.Cmd, log string) {
	w.t.Helper()
	cmd = exec.Command(w.tofu, "apply", "-auto-approve", "-input=false", "-no-color", "-parallelism=1")
	cmd.Dir, cmd.Env = w.dir, w.bot
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r, wr, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = wr, wr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	_ = wr.Close()
	w.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		_ = r.Close()
		endKilled(w.t, cmd.Process.Pid)
	})
	log = filepath.Join(w.t.TempDir(), "apply.log")
	var text strings.Builder
	in := bufio.NewScanner(r)
	for in.Scan() {
		text.WriteString(in.Text() + "\n")
		if strings.HasPrefix(in.Text(), "terraform_data.c (local-exec): Executing:") {
			break
		}
	}
	if !strings.Contains(text.String(), "terraform_data.c (local-exec)") {
		w.t.Fatalf("the apply ended early:\n%s", text.String())
	}
	if err := os.WriteFile(log, []byte(text.String()), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return cmd, log
}

// kill ends tofu and all that it started, as a runner that vanishes does, and
// waits until they are gone.
func (w *world) kill(cmd *exec.Cmd) {
	w.t.Helper()
	w.killTool(cmd)
	endKilled(w.t, cmd.Process.Pid)
}

// endKilled ends what a process left behind in its group.
func endKilled(t *testing.T, leader int) {
	t.Helper()
	look := time.NewTicker(time.Millisecond) // the kernel tells no one but a parent when a group is gone
	defer look.Stop()
	for until := time.Now().Add(time.Minute); ; <-look.C {
		switch err := syscall.Kill(-leader, syscall.SIGKILL); {
		case errors.Is(err, syscall.ESRCH):
			return
		case err != nil:
			t.Fatal(err)
		case time.Now().After(until):
			t.Fatal("what was killed does not end")
		}
	}
}

// killTool ends tofu alone: what its provisioners started lives on.
func (w *world) killTool(cmd *exec.Cmd) {
	w.t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	_, _ = cmd.Process.Wait()
}

func (w *world) probe(kind string, in steps.Params) steps.Observation {
	w.t.Helper()
	obs, err := probe(w.t.Context(), w.env, kind, in, stepstest.NewSink())
	if err != nil {
		w.t.Fatalf("%s: %v", kind, err)
	}
	return obs
}

func kindOf(name string) steps.Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	return steps.Kind{}
}

// probe runs a kind and holds it to the contract of every probe: each declared
// fact is there with its type, and no other.
func probe(ctx context.Context, env steps.Env, kind string, in steps.Params, out steps.Sink) (steps.Observation, error) {
	k := kindOf(kind)
	return stepstest.Observe(ctx, k.Reads(env), k.Facts, in, out)
}

// admin is a client of an administrator, and the address of the lock.
func (w *world) admin() (client *http.Client, lease string) {
	w.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", w.lab.Kubeconfig())
	if err != nil {
		w.t.Fatal(err)
	}
	if client, err = rest.HTTPClientFor(cfg); err != nil {
		w.t.Fatal(err)
	}
	return client, fmt.Sprintf("%s/apis/coordination.k8s.io/v1/namespaces/%s/leases/lock-tfstate-default-%s", cfg.Host, w.ns.Name, w.suffix())
}

// patchLease sends a JSON patch, as kubectl patch does.
func (w *world) patchLease(patch []byte) int {
	w.t.Helper()
	client, lease := w.admin()
	req, _ := http.NewRequest(http.MethodPatch, lease, bytes.NewReader(patch))
	req.Header.Set("Content-Type", "application/json-patch+json")
	resp, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// editLease changes the Lease as another client would.
func (w *world) editLease(edit func(lease map[string]any)) {
	w.t.Helper()
	client, url := w.admin()
	resp, err := client.Get(url)
	if err != nil {
		w.t.Fatal(err)
	}
	var lease map[string]any
	err = json.NewDecoder(resp.Body).Decode(&lease)
	_ = resp.Body.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	edit(lease)
	body, _ := json.Marshal(lease)
	// A writer of its own: the server keeps the times that it is given for others.
	writer := fmt.Sprintf("somebody-%d", time.Now().UnixNano())
	req, _ := http.NewRequest(http.MethodPut, url+"?fieldManager="+writer, bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	if resp, err = client.Do(req); err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.t.Fatalf("PUT of the Lease: %s", resp.Status)
	}
}

// backdate makes the lock look older, by the word of the server too.
func (w *world) backdate(by time.Duration) {
	w.t.Helper()
	w.editLease(func(lease map[string]any) {
		redate(w.t, lease, by)
		heldAt(lease, func(at time.Time) time.Time { return at.Add(-by) })
	})
}

// redate changes what the lock says of its own age.
func redate(t *testing.T, lease map[string]any, by time.Duration) {
	t.Helper()
	notes := lease["metadata"].(map[string]any)["annotations"].(map[string]any)
	var info map[string]any
	if err := json.Unmarshal([]byte(notes["app.terraform.io/lock-info"].(string)), &info); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339Nano, info["Created"].(string))
	if err != nil {
		t.Fatal(err)
	}
	info["Created"] = at.Add(-by).Format(time.RFC3339Nano)
	b, _ := json.Marshal(info)
	notes["app.terraform.io/lock-info"] = string(b)
}

// heldAt changes when the server says that the holder was set.
func heldAt(lease map[string]any, to func(time.Time) time.Time) {
	writers, _ := lease["metadata"].(map[string]any)["managedFields"].([]any)
	for _, w := range writers {
		w := w.(map[string]any)
		spec, _ := w["fieldsV1"].(map[string]any)["f:spec"].(map[string]any)
		if _, holds := spec["f:holderIdentity"]; !holds {
			continue
		}
		if at, err := time.Parse(time.RFC3339, w["time"].(string)); err == nil {
			w["time"] = to(at).UTC().Format(time.RFC3339)
		}
	}
}

func text(s string) steps.Value { return steps.StringOf(s) }
