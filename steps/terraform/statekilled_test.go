package terraform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/state"
)

// childOrder is what a copy of the test carries out as the executor of an act
// does, in a process of its own.
const childOrder = "HANDRAIL_TEST_ACT"

type order struct {
	Kind, Dir, Tofu string
	Environ         []string
	Params          steps.Params
}

// actAsChild carries out one act and says what it came to.
func actAsChild(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	env := steps.Env{Dir: o.Dir, Environ: o.Environ, Home: os.TempDir(), Now: time.Now,
		Tool: func(string) (string, error) { return o.Tofu, nil }, Trusted: func(string) error { return nil }}
	if o.Kind == "plan" {
		_, err := plan.Probe{Env: env}.Probe(context.Background(), o.Params, stepstest.NewSink())
		return err
	}
	g := kindOf("terraform/" + o.Kind).Changes(env)
	p, err := g.Preview(context.Background(), o.Params, stepstest.NewSink())
	if err != nil {
		return err
	}
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		return err
	}
	out, err := g.Act(context.Background(), a, stepstest.NewSink())
	if err != nil {
		return err
	}
	fmt.Println(out.Result, out.Response)
	return nil
}

// slowServer is the API server behind a door that holds up the first write of a
// state, with the lock of the backend taken.
type slowServer struct {
	url              string
	reached, release chan struct{}
	unlocked         chan struct{} // the lock was given back after that
}

func (w *world) slow() *slowServer {
	w.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", w.lab.Kubeconfig())
	if err != nil {
		w.t.Fatal(err)
	}
	rt, err := rest.TransportFor(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	to, err := url.Parse(cfg.Host)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &slowServer{reached: make(chan struct{}), release: make(chan struct{}), unlocked: make(chan struct{})}
	proxy := &httputil.ReverseProxy{Transport: rt, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	var once, done sync.Once
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		writes := r.Method == http.MethodPut || r.Method == http.MethodPatch
		if writes && strings.Contains(r.URL.Path, "/secrets/tfstate-") {
			once.Do(func() { close(s.reached); <-s.release })
		}
		proxy.ServeHTTP(rw, r)
		if writes && strings.Contains(r.URL.Path, "/leases/lock-tfstate-") {
			select {
			case <-s.release:
				done.Do(func() { close(s.unlocked) })
			default:
			}
		}
	}))
	w.t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// TestKilledInTheAct ends the process that carries out an act, and all of its
// group, while the program has the lock and is about to write. The program comes
// to its end, no lock stays, and a look finds the outcome.
func TestKilledInTheAct(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"state-rm", "state-mv", "import", "restore-state"} {
		signals := []syscall.Signal{syscall.SIGKILL}
		if kind == "state-rm" { // all of them run their program by writeTool, so that one hangup stands for four
			signals = append(signals, syscall.SIGHUP)
		}
		for _, sig := range signals {
			t.Run(fmt.Sprintf("%s %v", kind, sig), func(t *testing.T) {
				t.Parallel()
				killedInTheAct(t, kind, sig)
			})
		}
	}
}

func killedInTheAct(t *testing.T, kind string, sig syscall.Signal) {
	if signal.Ignored(sig) {
		sig = syscall.SIGTERM // under nohup a child ignores a hangup as well
	}
	w := newWorld(t, "kubernetes", threeKinds)
	w.run("apply", "-auto-approve", "-input=false", "-no-color")
	file, first := w.copyOfState()
	w.run("state", "rm", "terraform_data.b[1]")
	was := w.ledger()
	in := map[string]steps.Params{
		"state-rm":      addressParams("terraform_data.a", `terraform_data.c["k.1"]`),
		"state-mv":      {"from": text("terraform_data.a"), "to": text("module.net.terraform_data.a")},
		"import":        importParams("terraform_data.b[1]", "object"),
		"restore-state": {"file": steps.PathOf(file)},
	}[kind]
	s := w.slow()
	// What the child sends goes through the door; the tests look past it.
	environ := append(w.env.Environ[:len(w.env.Environ):len(w.env.Environ)], "KUBE_HOST="+s.url)
	w.env.Environ = environ
	raw, err := json.Marshal(order{kind, w.dir, w.tofu, environ, in})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.CreateTemp(t.TempDir(), "said")
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	before := w.shows(kind, in)
	child := exec.Command(self)
	child.Env, child.Stdout, child.Stderr = append(os.Environ(), childOrder+"="+string(raw)), said, said
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = child.Wait(); close(ended) }()
	t.Cleanup(func() { _ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL); <-ended })
	select {
	case <-s.reached:
	case <-ended:
		b, _ := os.ReadFile(said.Name())
		t.Fatalf("the act ended before it wrote: %s", b)
	}
	if lock := w.probe("terraform/lock", nil); !lock.Facts["held"].Bool() {
		t.Errorf("the lock while the program writes = %v", lock.Facts)
	}
	if err := syscall.Kill(-child.Process.Pid, sig); err != nil {
		t.Fatal(err)
	}
	<-ended
	if o, err := w.find(kind, before, in); err == nil || !strings.Contains(err.Error(), "may still run") {
		t.Errorf("Find() while the program runs = %+v, %v", o, err)
	}
	close(s.release)
	<-s.unlocked
	if lock := w.probe("terraform/lock", nil); lock.Facts["held"].Bool() {
		t.Errorf("the lock after the program = %v", lock.Facts)
	}
	o, err := w.find(kind, before, in)
	if err != nil || o.Result != steps.Done {
		t.Errorf("Find() after the program = %+v, %v, want done", o, err)
	}
	now := w.ledger()
	if now.Doc.Serial <= was.Doc.Serial {
		t.Errorf("serial %d, it was %d", now.Doc.Serial, was.Doc.Serial)
	}
	if kind == "restore-state" && !state.Compare(first.Entries, now.Entries).None() {
		t.Errorf("restored %v", now.Entries)
	}
	w.undone(before, was)
}

// TestInterruptedBeforeItRuns: a turned-away person sends nothing.
func TestInterruptedBeforeItRuns(t *testing.T) {
	t.Parallel()
	w := applied(t, "local", threeKinds)
	p := w.opens("state-rm", addressParams("terraform_data.a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	was := w.ledger()
	o, err := w.gate("state-rm").Act(ctx, w.approve(p), stepstest.NewSink())
	if err == nil && o.Result != steps.Refused || errors.Is(err, steps.ErrSpent) || w.ledger().Sum() != was.Sum() {
		t.Errorf("Act() = %+v, %v, want refused with nothing sent", o, err)
	}
}
