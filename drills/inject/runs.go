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
	"strconv"
	"strings"

	"handrail/drills/stage"
)

var addressForm = regexp.MustCompile(`^[a-z_]+\.[a-z0-9_]+(\["[a-z0-9_-]+"\])?$`)

// run is the verb tofu.run: an apply by robot, as the pipeline makes it, from its
// begin to its end.
type run struct {
	Plan        string            `key:"plan" as:"file name"`      // a saved one, "" for a new one
	Vars        map[string]string `key:"vars"`                     // of the module
	Fails       string            `key:"fails"`                    // what it must say as it fails, "" for one that succeeds
	Log         bool              `key:"log"`                      // it is the run whose log the operator has
	Credentials string            `key:"credentials" oneof:"none"` // none for the API of the drill
	Parallel    int               `key:"parallel" range:"1 100"`   // operations at once, 1 for none said
}

func (r run) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a run of the pipeline")
	args := []string{"apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=" + strconv.Itoa(max(1, r.Parallel))}
	for _, name := range slices.Sorted(maps.Keys(r.Vars)) {
		args = append(args, "-var", name+"="+r.Vars[name])
	}
	if r.Plan != "" {
		args = append(args, r.Plan)
	}
	env := st.RobotEnviron()
	if r.Credentials == "none" {
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, stage.TokenVariable+"=") })
	}
	out, err := st.Run(ctx, env, args...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.Log {
		if err := os.WriteFile(st.Rec.Log, append([]byte(st.EchoLine(args)), out...), 0o600); err != nil {
			return err
		}
	}
	switch {
	case r.Fails == "" && err != nil:
		return fmt.Errorf("the run failed: %w: %s", err, stage.Tail(out))
	case r.Fails != "" && err == nil:
		return errors.New("the run succeeded, and the drill is about one that fails")
	case !bytes.Contains(bytes.Join(bytes.Fields(out), []byte(" ")), []byte(r.Fails)):
		return fmt.Errorf("the run failed otherwise than with %q: %s", r.Fails, stage.Tail(out))
	}
	return nil
}

// plan is the verb tofu.plan: the pipeline keeps a plan, and the JSON of it
// beside, to be approved.
type plan struct {
	Out string `key:"out,required" as:"file name"`
	For string `key:"for" oneof:"robot operator"` // a plan is bound to the account that made it
}

func (a plan) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the pipeline makes a plan")
	env := st.RobotEnviron()
	if a.For == "operator" {
		env = append(st.OperatorEnviron(nil), stage.Marker+st.Rec.Nonce)
	}
	if out, err := st.Run(ctx, env, "plan", "-input=false", "-no-color", "-lock=false", "-out="+a.Out); err != nil {
		return fmt.Errorf("tofu plan: %w: %s", err, stage.Tail(out))
	}
	shown, err := st.Must(ctx, "show", "-json", a.Out)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(st.Rec.Dir, a.Out+".json"), shown, 0o600)
}

// forget is the verb tofu.forget: the record of something is lost, and the thing
// is not.
type forget struct {
	Address string `key:"address,required" as:"address"`
}

func (a forget) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the record of %s is lost", a.Address)
	_, err := st.Must(ctx, "state", "rm", a.Address)
	return err
}

// adopt is the verb tofu.adopt: an object that was there before is recorded.
type adopt struct {
	Address string `key:"address,required" as:"address"`
	Name    string `key:"name,required" as:"id"`
}

func (a adopt) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("%s is recorded as %s", a.Name, a.Address)
	_, err := st.Must(ctx, "import", "-input=false", "-no-color", a.Address, st.Rec.Namespace.Name+"/"+a.Name)
	return err
}

// unlock is the verb tofu.unlock: a lock is broken while its holder lives.
type unlock struct{}

func (unlock) apply(ctx context.Context, st *stage.Stage) error {
	id, err := st.Holder(ctx)
	if err != nil {
		return err
	}
	st.Say("the lock is broken by hand")
	_, err = st.Must(ctx, "force-unlock", "-force", id)
	return err
}

// begin is the verb tofu.begin: an apply that its module holds back until
// tofu.finish.
type begin struct {
	Held string `key:"held,required" as:"address"`
}

func (a begin) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("an apply runs, and is held back at %s", a.Held)
	_, ended, err := st.Launch("apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1")
	if err != nil {
		return err
	}
	return st.AwaitLog(ctx, ended, "come to "+a.Held, func(log []byte) bool {
		return bytes.Contains(log, []byte(a.Held+": Provisioning with")) && st.Held(ctx)
	})
}

// finish is the verb tofu.finish: the apply that was held back by its module goes
// on, and ends.
type finish struct{}

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
