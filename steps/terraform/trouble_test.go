package terraform

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/change"
)

// TestContract holds every probe to a context that has ended already.
func TestContract(t *testing.T) {
	t.Parallel()
	_, env := initialised(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, k := range Kinds() {
		if k.Reads != nil {
			if _, err := k.Reads(env).Probe(ctx, nil, stepstest.NewSink()); !errors.Is(err, context.Canceled) {
				t.Errorf("%s after a cancel = %v, want it to say so", k.Name, err)
			}
			continue
		}
		if _, err := k.Changes(env).Preview(ctx, nil, stepstest.NewSink()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after a cancel = %v, want it to say so", k.Name, err)
		}
		if _, err := k.Changes(env).Act(t.Context(), nil, stepstest.NewSink()); !errors.Is(err, steps.ErrSpent) {
			t.Errorf("%s without an approval = %v, want ErrSpent", k.Name, err)
		}
	}
}

// strange makes a root module whose backend settings are config.
func strange(t *testing.T, config map[string]any) (string, steps.Env) {
	t.Helper()
	dir, env := initialised(t)
	config["secret_suffix"] = "x"
	b, err := json.Marshal(map[string]any{"version": 3, "backend": map[string]any{"type": "kubernetes", "config": config}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".terraform"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".terraform", "terraform.tfstate"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	env.Home = t.TempDir()
	return dir, env
}

func kubeconfig(t *testing.T, server, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: %s}]\n", server, user)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestStrangersDirectory proves that a clone can neither run a program nor make
// the operator's credentials travel.
func TestStrangersDirectory(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	mark := filepath.Join(t.TempDir(), "ran")
	plugin := fmt.Sprintf(`{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: touch, args: [%q]}}`, mark)
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := kubeconfig(t, srv.URL, "{token: s3cret}")
	for _, tc := range []struct {
		name    string
		config  map[string]any
		environ []string
		want    string
	}{
		{"plugin in its kubeconfig", map[string]any{"config_path": kubeconfig(t, srv.URL, plugin)}, nil, `the program "touch"`},
		{"plugin in the backend", map[string]any{"config_path": mine, "exec": []any{map[string]any{"api_version": "client.authentication.k8s.io/v1", "command": "touch", "args": []any{mark}}}}, nil, `the program "touch"`},
		{"token file", map[string]any{"config_path": kubeconfig(t, srv.URL, fmt.Sprintf("{tokenFile: %q}", secret))}, nil, "token file"},
		{"auth provider", map[string]any{"config_path": kubeconfig(t, srv.URL, "{auth-provider: {name: oidc}}")}, nil, `auth provider "oidc"`},
		{"its host, your kubeconfig", map[string]any{"host": srv.URL}, []string{"KUBE_CONFIG_PATH=" + mine}, "credentials of yours"},
		{"its host, your token", map[string]any{"host": srv.URL}, []string{"KUBE_TOKEN=s3cret"}, "credentials of yours"},
		{"its kubeconfig, your token", map[string]any{"config_path": kubeconfig(t, srv.URL, "{}")}, []string{"KUBE_TOKEN=s3cret"}, "credentials of yours"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, env := strange(t, tc.config)
			env.Environ = tc.environ
			_, err := probe(t.Context(), env, "terraform/lock", nil, stepstest.NewSink())
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error = %v, want %q in it", err, tc.want)
			}
		})
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the program of a stranger ran")
	}
	select {
	case got := <-asked:
		t.Errorf("the server of a stranger was asked with %q", got)
	default:
	}
	// The operator's own kubeconfig may run its plugin.
	_, env := strange(t, map[string]any{})
	env.Environ = []string{"KUBE_CONFIG_PATH=" + kubeconfig(t, srv.URL, plugin)}
	_, _ = probe(t.Context(), env, "terraform/lock", nil, stepstest.NewSink())
	if _, err := os.Stat(mark); err != nil {
		t.Error("the plugin of the operator's own kubeconfig did not run")
	}
}

func TestServerAnswers(t *testing.T) {
	t.Parallel()
	lease := func(spec string) string {
		return `{"kind":"Lease","metadata":{"annotations":{"app.terraform.io/lock-info":"{\"ID\":\"i\",\"Who\":\"a@b\"}"}},"spec":` + spec + `}`
	}
	absent := func(name, kind string) string {
		return fmt.Sprintf(`{"kind":"Status","status":"Failure","reason":"NotFound","details":{"name":%q,"kind":%q},"code":404}`, name, kind)
	}
	for _, tc := range []struct {
		name, kind, body string
		code             int
		check            func(obs steps.Observation) bool
		err              string
	}{
		{"not held", "lock", lease(`{}`), 200, func(o steps.Observation) bool { return o.Facts["held"].Known() && !o.Facts["held"].Bool() }, ""},
		{"empty holder", "lock", lease(`{"holderIdentity":""}`), 200, func(o steps.Observation) bool { return !o.Facts["held"].Bool() && len(o.Findings) == 1 }, ""},
		{"no creation time", "lock", lease(`{"holderIdentity":"i"}`), 200, func(o steps.Observation) bool { return o.Facts["held"].Bool() && !o.Facts["created"].Known() }, ""},
		{"two ids", "lock", lease(`{"holderIdentity":"j"}`), 200, func(o steps.Observation) bool { return o.Facts["id"].Text() == "j" && len(o.Findings) == 2 }, ""},
		{"no Lease", "lock", `{"kind":"Status"}`, 200, nil, "not a Lease"},
		{"no JSON", "lock", `<html>`, 200, nil, "not a Lease"},
		{"no API server", "lock", `<html>`, 404, nil, "not as a Kubernetes API server"},
		{"broken server", "lock", `{"kind":"Status","message":"etcd"}`, 500, nil, `answered 500: "etcd"`},
		{"a bare 404", "state", `{"kind":"Status"}`, 404, nil, "does not know this address"},
		{"another object is absent", "state", absent("tfstate-other", "secrets"), 404, nil, "does not know this address"},
		{"the namespace is absent", "lock", absent("ns", "namespaces"), 404, nil, "does not know this address"},
		{"absent state", "state", absent("tfstate-default-x", "secrets"), 404, func(o steps.Observation) bool { return o.Facts["exists"].Known() && !o.Facts["exists"].Bool() }, ""},
		{"Secret without state", "state", `{"kind":"Secret","data":{}}`, 200, func(o steps.Observation) bool { return o.Facts["exists"].Known() && !o.Facts["exists"].Bool() }, ""},
		{"split state", "state", `{"kind":"Secret","data":{"tfstate":"` + base64.StdEncoding.EncodeToString([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")) + `"}}`, 200,
			func(o steps.Observation) bool {
				return o.Facts["exists"].Bool() && !o.Facts["serial"].Known() && strings.Contains(o.Findings[0].Say, "split")
			}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/kube-system") {
					_, _ = w.Write([]byte(`{"metadata":{"uid":"u"}}`))
					return
				}
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer srv.Close()
			_, env := strange(t, map[string]any{"host": srv.URL})
			obs, err := probe(t.Context(), env, "terraform/"+tc.kind, nil, stepstest.NewSink())
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error = %v, want %q in it", err, tc.err)
				}
				return
			}
			if err != nil || !tc.check(obs) {
				t.Errorf("observation = %v %v, %v", obs.Facts, obs.Findings, err)
			}
		})
	}
}

func script(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tofu")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// initialised makes a directory with a local state, so that no init is needed.
func initialised(t *testing.T) (string, steps.Env) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir, "terraform.tfstate", `{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l-1","outputs":{},"resources":[],"check_results":null}`)
	return dir, steps.Env{Dir: dir, User: "operator", Host: "this-machine", Now: time.Now}
}

// TestPlanRunner looks at the arguments and the environment of a plan.
func TestPlanRunner(t *testing.T) {
	t.Parallel()
	_, env := initialised(t)
	seen := filepath.Join(t.TempDir(), "seen")
	tool := script(t, `if [ "$*" = "providers schema -json" ]; then echo '{"format_version":"1.0"}'; exit; fi
echo "$@" >> `+seen+`; env >> `+seen+`
case $1 in
plan) exit 2;;
show) echo 'Warning: odd'; echo '{"format_version":"1.2","resource_changes":[{"address":"t.b","change":{"actions":["delete","create"]}},{"address":"t.a","change":{"actions":["create"]}},{"address":"t.c","change":{"actions":["no-op"]}},{"address":"t.d","change":{"actions":["update"]}},{"address":"t.e","change":{"actions":["delete"]}}]}';;
esac`)
	env.Tool = func(string) (string, error) { return tool, nil }
	env.Trusted = func(string) error { return nil }
	env.Environ = []string{"PATH=" + os.Getenv("PATH"), "AWS_PROFILE=p", "TF_CLI_ARGS_plan=-destroy", "TF_CLI_ARGS=-x", "TF_LOG=trace", "LD_PRELOAD=/x", "TF_REATTACH_PROVIDERS={}"}
	obs, err := probe(t.Context(), env, "terraform/plan", nil, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"exit": "2", "add": "2", "change": "1", "destroy": "2", "replace": "1", "clean": "false", "changed": `["t.a" "t.b" "t.d" "t.e"]`} {
		if got := obs.Facts[name].Text(); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	b, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	if want := "plan -lock=false -input=false -no-color -detailed-exitcode -out="; !strings.HasPrefix(lines[0], want) {
		t.Errorf("arguments = %q, want %q", lines[0], want)
	}
	for _, l := range lines {
		for _, bad := range []string{"TF_CLI_ARGS", "TF_LOG", "LD_PRELOAD", "TF_REATTACH"} {
			if strings.HasPrefix(l, bad) {
				t.Errorf("the plan got %s", l)
			}
		}
	}
	for _, want := range []string{"AWS_PROFILE=p", "TF_WORKSPACE=default", "TF_INPUT=0"} {
		if !slices.Contains(lines, want) {
			t.Errorf("the plan did not get %s", want)
		}
	}
	_, out, _ := strings.Cut(lines[0], "-out=")
	if _, err := os.Stat(filepath.Dir(out)); out != "/proc/self/fd/3" && !errors.Is(err, os.ErrNotExist) { // that one has no name
		t.Errorf("the directory of the plan is left: %v", err)
	}
}

func TestPlanFails(t *testing.T) {
	t.Parallel()
	_, env := initialised(t)
	tool := script(t, `echo 'Error: Inconsistent dependency lock file' >&2; exit 1`)
	env.Tool = func(string) (string, error) { return tool, nil }
	env.Trusted = func(string) error { return nil }
	obs, err := probe(t.Context(), env, "terraform/plan", nil, stepstest.NewSink())
	if err != nil || obs.Facts["exit"].Int() != 1 || obs.Facts["clean"].Known() || !strings.Contains(obs.Findings[0].Say, "Inconsistent") {
		t.Errorf("plan = %v %v, %v", obs.Facts, obs.Findings, err)
	}
	env.Tool = func(string) (string, error) { return "", errors.New("no tofu in PATH") }
	if _, err := probe(t.Context(), env, "terraform/plan", nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "no tofu") {
		t.Errorf("plan without a tool = %v", err)
	}
}

// TestPlanIsInterrupted cancels a plan: it gets one interrupt and may end well.
func TestPlanIsInterrupted(t *testing.T) {
	t.Parallel()
	_, env := initialised(t)
	ran := t.TempDir()
	pipe := filepath.Join(ran, "ready")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	tool := script(t, `trap 'echo interrupted >> `+ran+`/log; exit 1' INT
echo ready > `+pipe+`
while :; do sleep 0.02; done`)
	env.Tool = func(string) (string, error) { return tool, nil }
	env.Trusted = func(string) error { return nil }
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		// Reading returns when the program runs and has set its trap.
		_, _ = os.ReadFile(pipe)
		stop()
	}()
	if _, err := probe(ctx, env, "terraform/plan", nil, stepstest.NewSink()); !errors.Is(err, context.Canceled) {
		t.Errorf("plan = %v, want cancelled", err)
	}
	if b, _ := os.ReadFile(filepath.Join(ran, "log")); string(b) != "interrupted\n" {
		t.Errorf("the plan logged %q, want one interrupt", b)
	}
}

// TestUnlockThatDoesNot lets the program lie, fail and lose a race.
func TestUnlockThatDoesNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubernetes", sixSlow)
	cmd, _ := w.apply()
	w.kill(cmd)
	w.backdate(time.Hour)
	id := w.probe("terraform/lock", nil).Facts["id"].Text()
	for _, tc := range []struct{ name, body, result string }{
		{"lies", "exit 0", steps.Failed},
		{"fails", "echo 'Error: forbidden' >&2; exit 1", steps.Failed},
		{"panics", "exit 11", steps.Failed},
	} {
		w.tofu = script(t, tc.body)
		p := w.preview(id)
		a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := (change.UnlockGate{Env: w.env}).Act(t.Context(), a, stepstest.NewSink()); err != nil || o.Result != tc.result {
			t.Errorf("%s: Act() = %+v, %v, want %s", tc.name, o, err, tc.result)
		}
	}
}

func TestForeignBackend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"oss"}}`)
	if _, err := probe(t.Context(), steps.Env{Dir: dir}, "terraform/lock", nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), `backend "oss"`) {
		t.Errorf("lock of oss = %v, want an error that names it", err)
	}
}
