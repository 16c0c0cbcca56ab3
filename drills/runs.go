package drills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

var (
	fileForm    = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$`)
	addressForm = regexp.MustCompile(`^[a-z_]+\.[a-z0-9_]+(\["[a-z0-9_-]+"\])?$`)
)

// run is the verb tofu.run: an apply by robot, as the pipeline makes it, from its
// begin to its end.
type run struct {
	plan  string            // saved plan, "" for a new one
	vars  map[string]string // of the module
	fails string            // what it must say as it fails, "" for one that succeeds
	log   bool              // it is the run whose log the operator has
	bare  bool              // it has no credentials for the API of the drill
}

func readRun(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.run", "plan", "vars", "fails", "log", "credentials")
	r := run{fails: p.Text(f["fails"], "fails"), log: p.Flag(f["log"], "log"), vars: map[string]string{}}
	if f["credentials"] != nil {
		r.bare = p.OneOf(f["credentials"], "credentials", []string{"none"}) != ""
	}
	if f["plan"] != nil {
		r.plan = p.form(f["plan"], "plan", fileForm)
	}
	p.each(f["vars"], "vars", func(key, value *yaml.Node) { r.vars[key.Value] = p.Text(value, key.Value) })
	return r
}

func (r run) apply(ctx context.Context, st *stage) error {
	st.say("a run of the pipeline")
	args := []string{"apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1"}
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		args = append(args, "-var", name+"="+r.vars[name])
	}
	if r.plan != "" {
		args = append(args, r.plan)
	}
	env := st.robotEnviron()
	if r.bare {
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, tokenVariable+"=") })
	}
	out, err := st.runs(ctx, env, args...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.log {
		if err := os.WriteFile(st.rec.Log, append([]byte(echoed(args)), out...), 0o600); err != nil {
			return err
		}
	}
	switch {
	case r.fails == "" && err != nil:
		return fmt.Errorf("the run failed: %w: %s", err, last(out))
	case r.fails != "" && err == nil:
		return errors.New("the run succeeded, and the drill is about one that fails")
	case !bytes.Contains(bytes.Join(bytes.Fields(out), []byte(" ")), []byte(r.fails)):
		return fmt.Errorf("the run failed otherwise than with %q: %s", r.fails, last(out))
	}
	return nil
}

// asRobot runs tofu in the root module to its end, and says what it said.
func (st *stage) asRobot(ctx context.Context, args ...string) ([]byte, error) {
	return st.runs(ctx, st.robotEnviron(), args...)
}

func (st *stage) runs(ctx context.Context, env []string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, applyLimit, fmt.Errorf("tofu %s took more than %s", args[0], applyLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, st.tofu, args...)
	cmd.Dir, cmd.Env = st.rec.Dir, env
	return cmd.CombinedOutput()
}

// must runs it where nothing may fail.
func (st *stage) must(ctx context.Context, args ...string) ([]byte, error) {
	out, err := st.asRobot(ctx, args...)
	if err != nil {
		return out, fmt.Errorf("tofu %s: %w: %s", args[0], err, last(out))
	}
	return out, nil
}

// plan is the verb tofu.plan: the pipeline keeps a plan, and the JSON of it
// beside, for somebody to approve.
type plan struct {
	out      string
	operator bool // with the settings of the operator: a plan is bound to the account that made it
}

func readPlan(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.plan", "out", "for")
	a := plan{out: p.form(p.need(n, f, "out"), "out", fileForm)}
	if f["for"] != nil {
		a.operator = p.OneOf(f["for"], "for", []string{"robot", "operator"}) == "operator"
	}
	return a
}

func (a plan) apply(ctx context.Context, st *stage) error {
	st.say("the pipeline makes a plan")
	env := st.robotEnviron()
	if a.operator {
		env = append(st.operatorEnviron(nil), marker+st.rec.Nonce)
	}
	if out, err := st.runs(ctx, env, "plan", "-input=false", "-no-color", "-lock=false", "-out="+a.out); err != nil {
		return fmt.Errorf("tofu plan: %w: %s", err, last(out))
	}
	shown, err := st.must(ctx, "show", "-json", a.out)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(st.rec.Dir, a.out+".json"), shown, 0o600)
}

// forget is the verb tofu.forget: the record of something is lost, and the thing
// is not.
type forget struct{ address string }

func readForget(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.forget", "address")
	return forget{p.form(p.need(n, f, "address"), "address", addressForm)}
}

func (a forget) apply(ctx context.Context, st *stage) error {
	st.say("the record of %s is lost", a.address)
	_, err := st.must(ctx, "state", "rm", a.address)
	return err
}

// adopt is the verb tofu.adopt: an object that was there before is recorded.
type adopt struct{ address, name string }

func readAdopt(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.adopt", "address", "name")
	return adopt{p.form(p.need(n, f, "address"), "address", addressForm), p.form(p.need(n, f, "name"), "name", idForm)}
}

func (a adopt) apply(ctx context.Context, st *stage) error {
	st.say("%s is recorded as %s", a.name, a.address)
	_, err := st.must(ctx, "import", "-input=false", "-no-color", a.address, st.rec.Namespace.Name+"/"+a.name)
	return err
}

// unlock is the verb tofu.unlock: somebody breaks a lock while its holder lives.
type unlock struct{}

func readUnlock(p parser, n *yaml.Node) action {
	p.Fields(n, "tofu.unlock")
	return unlock{}
}

func (unlock) apply(ctx context.Context, st *stage) error {
	id, err := st.holder(ctx)
	if err != nil {
		return err
	}
	st.say("somebody breaks the lock")
	_, err = st.must(ctx, "force-unlock", "-force", id)
	return err
}

// begin is the verb tofu.begin: an apply that its module holds back until
// tofu.finish.
type begin struct{ address string }

func readBegin(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.begin", "held")
	return begin{p.form(p.need(n, f, "held"), "held", addressForm)}
}

func (a begin) apply(ctx context.Context, st *stage) error {
	st.say("an apply runs, and is held back at %s", a.address)
	_, ended, err := st.launch("apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1")
	if err != nil {
		return err
	}
	return st.until(ctx, ended, "come to "+a.address, func(log []byte) bool {
		return bytes.Contains(log, []byte(a.address+": Provisioning with")) && st.held(ctx)
	})
}

// finish is the verb tofu.finish: the apply that was held back by its module goes
// on, and ends.
type finish struct{}

func readFinish(p parser, n *yaml.Node) action {
	p.Fields(n, "tofu.finish")
	return finish{}
}

func (finish) apply(ctx context.Context, st *stage) error {
	if len(st.rec.Processes) == 0 {
		return errors.New("no apply was begun")
	}
	held := st.rec.Processes[len(st.rec.Processes)-1]
	st.say("the apply that was held back goes on")
	if err := os.WriteFile(filepath.Join(st.home, "go"), nil, 0o600); err != nil {
		return err
	}
	return st.wait(ctx, "the apply did not end", func() (bool, error) {
		mark := startMark(held.PID)
		return mark == "" || mark != held.Start, nil
	})
}
