package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
)

var addressForm = regexp.MustCompile(`^[a-z_]+\.[a-z0-9_]+(\["[a-z0-9_-]+"\])?$`)

// run is the verb tofu.run: an apply by robot, as the pipeline makes it, from its
// begin to its end.
type run struct {
	plan  string            // saved plan, "" for a new one
	vars  map[string]string // of the module
	fails string            // what it must say as it fails, "" for one that succeeds
	log   bool              // it is the run whose log the operator has
	bare  bool              // it has no credentials for the API of the drill
}

func readRun(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.run", "plan", "vars", "fails", "log", "credentials")
	r := run{fails: p.Text(f["fails"], "fails"), log: p.Flag(f["log"], "log"), vars: map[string]string{}}
	if f["credentials"] != nil {
		r.bare = p.OneOf(f["credentials"], "credentials", []string{"none"}) != ""
	}
	if f["plan"] != nil {
		r.plan = p.Form(f["plan"], "plan", FileForm)
	}
	p.Each(f["vars"], "vars", func(key, value *yaml.Node) { r.vars[key.Value] = p.Text(value, key.Value) })
	return r
}

func (r run) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a run of the pipeline")
	args := []string{"apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1"}
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		args = append(args, "-var", name+"="+r.vars[name])
	}
	if r.plan != "" {
		args = append(args, r.plan)
	}
	env := st.RobotEnviron()
	if r.bare {
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, stage.TokenVariable+"=") })
	}
	out, err := st.Run(ctx, env, args...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.log {
		if err := os.WriteFile(st.Rec.Log, append([]byte(stage.EchoLine(args)), out...), 0o600); err != nil {
			return err
		}
	}
	switch {
	case r.fails == "" && err != nil:
		return fmt.Errorf("the run failed: %w: %s", err, stage.Tail(out))
	case r.fails != "" && err == nil:
		return errors.New("the run succeeded, and the drill is about one that fails")
	case !bytes.Contains(bytes.Join(bytes.Fields(out), []byte(" ")), []byte(r.fails)):
		return fmt.Errorf("the run failed otherwise than with %q: %s", r.fails, stage.Tail(out))
	}
	return nil
}

// plan is the verb tofu.plan: the pipeline keeps a plan, and the JSON of it
// beside, for somebody to approve.
type plan struct {
	out      string
	operator bool // with the settings of the operator: a plan is bound to the account that made it
}

func readPlan(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.plan", "out", "for")
	a := plan{out: p.Form(p.Need(n, f, "out"), "out", FileForm)}
	if f["for"] != nil {
		a.operator = p.OneOf(f["for"], "for", []string{"robot", "operator"}) == "operator"
	}
	return a
}

func (a plan) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the pipeline makes a plan")
	env := st.RobotEnviron()
	if a.operator {
		env = append(st.OperatorEnviron(nil), stage.Marker+st.Rec.Nonce)
	}
	if out, err := st.Run(ctx, env, "plan", "-input=false", "-no-color", "-lock=false", "-out="+a.out); err != nil {
		return fmt.Errorf("tofu plan: %w: %s", err, stage.Tail(out))
	}
	shown, err := st.Must(ctx, "show", "-json", a.out)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(st.Rec.Dir, a.out+".json"), shown, 0o600)
}

// forget is the verb tofu.forget: the record of something is lost, and the thing
// is not.
type forget struct{ address string }

func readForget(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.forget", "address")
	return forget{p.Form(p.Need(n, f, "address"), "address", addressForm)}
}

func (a forget) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the record of %s is lost", a.address)
	_, err := st.Must(ctx, "state", "rm", a.address)
	return err
}

// adopt is the verb tofu.adopt: an object that was there before is recorded.
type adopt struct{ address, name string }

func readAdopt(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.adopt", "address", "name")
	return adopt{p.Form(p.Need(n, f, "address"), "address", addressForm), p.Form(p.Need(n, f, "name"), "name", IDForm)}
}

func (a adopt) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("%s is recorded as %s", a.name, a.address)
	_, err := st.Must(ctx, "import", "-input=false", "-no-color", a.address, st.Rec.Namespace.Name+"/"+a.name)
	return err
}

// unlock is the verb tofu.unlock: somebody breaks a lock while its holder lives.
type unlock struct{}

func readUnlock(p Parser, n *yaml.Node) action {
	p.Fields(n, "tofu.unlock")
	return unlock{}
}

func (unlock) apply(ctx context.Context, st *stage.Stage) error {
	id, err := st.Holder(ctx)
	if err != nil {
		return err
	}
	st.Say("somebody breaks the lock")
	_, err = st.Must(ctx, "force-unlock", "-force", id)
	return err
}

// begin is the verb tofu.begin: an apply that its module holds back until
// tofu.finish.
type begin struct{ address string }

func readBegin(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.begin", "held")
	return begin{p.Form(p.Need(n, f, "held"), "held", addressForm)}
}

func (a begin) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("an apply runs, and is held back at %s", a.address)
	_, ended, err := st.Launch("apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1")
	if err != nil {
		return err
	}
	return st.AwaitLog(ctx, ended, "come to "+a.address, func(log []byte) bool {
		return bytes.Contains(log, []byte(a.address+": Provisioning with")) && st.Held(ctx)
	})
}

// finish is the verb tofu.finish: the apply that was held back by its module goes
// on, and ends.
type finish struct{}

func readFinish(p Parser, n *yaml.Node) action {
	p.Fields(n, "tofu.finish")
	return finish{}
}

func (finish) apply(ctx context.Context, st *stage.Stage) error {
	if len(st.Rec.Processes) == 0 {
		return errors.New("no apply was begun")
	}
	held := st.Rec.Processes[len(st.Rec.Processes)-1]
	st.Say("the apply that was held back goes on")
	if err := os.WriteFile(filepath.Join(st.Home, "go"), nil, 0o600); err != nil {
		return err
	}
	return st.Wait(ctx, "the apply did not end", func() (bool, error) {
		mark := stage.StartMark(held.PID)
		return mark == "" || mark != held.Start, nil
	})
}
