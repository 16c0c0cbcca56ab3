package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session"
	"handrail/steps"
	"handrail/steps/fault"
)

// orders are what the executor of an act needs of the handrail that ordered it:
// the act, and the world in which it was previewed. They hold secrets and travel
// through a pipe alone.
type orders struct {
	Act     session.Order `json:"act"`
	State   string        `json:"state"`
	Dir     string        `json:"dir"`
	Environ []string      `json:"environ"`
	User    string        `json:"user"`
	Host    string        `json:"host"`
	Trust   []string      `json:"trust,omitempty"` // directories that are trusted whatever is in them: a drill's own
	// Tools are where the session finds the programs that a gate may run.
	Tools map[string]string `json:"tools,omitempty"`

	Kubeconfig string   `json:"kubeconfig,omitempty"`
	Context    string   `json:"context,omitempty"`
	Namespace  string   `json:"namespace,omitempty"`
	Kubectl    []string `json:"kubectl,omitempty"`
}

// maxOrders bounds what an executor reads.
const maxOrders = 64 << 20

// executor starts a process of its own for each act, in the world of the session,
// so that neither a closed terminal nor the end of this process takes the act with it.
func executor(p *process.Program, trust ...string) func(steps.Env, session.Order) (<-chan struct{}, error) {
	return func(env steps.Env, o session.Order) (<-chan struct{}, error) {
		state, err := p.StateDir()
		if err != nil {
			return nil, err
		}
		ord := orders{
			Act: o, State: state, Dir: env.Dir, Environ: env.Environ, User: env.User, Host: env.Host, Trust: trust, Tools: map[string]string{},
			Kubeconfig: env.Kubeconfig, Context: env.Context, Namespace: env.Namespace, Kubectl: env.Kubectl,
		}
		for _, name := range []string{"tofu", "terraform"} {
			if env.Tool == nil {
				break
			}
			if path, err := env.Tool(name); err == nil { // else a gate that needs it says so, and nothing is sent
				ord.Tools[name] = path
			}
		}
		b, err := json.Marshal(ord)
		if err != nil {
			return nil, err
		}
		return detach(p, b, o)
	}
}

// detach starts `handrail __act BUNDLE SEQ` in a session of its own and gives it
// its orders.
func detach(p *process.Program, b []byte, o session.Order) (<-chan struct{}, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	scope, _ := lasting(context.Background(), p)
	cmd := executing(exe, scope, o)
	cmd.Env = p.Environ
	process.Apart(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() { // ends with the executor, or with this process
		defer close(ended)
		defer fault.To(func(error) {})
		// An executor that did not read all of it does nothing, and leaves no outcome.
		_, _ = in.Write(b)
		_ = in.Close()
		_ = cmd.Wait()
	}()
	return ended, nil
}

// executing is the command of an executor, in the scope that it is given.
// systemd-run becomes what it runs, so that process and pipe stay the same.
func executing(exe string, scope []string, o session.Order) *exec.Cmd {
	act := []string{"__act", o.Bundle, strconv.FormatInt(o.Seq, 10)}
	if scope != nil {
		return exec.Command(scope[0], slices.Concat(scope[1:], []string{exe}, act)...)
	}
	cmd := exec.Command(exe, act...)
	cmd.Args[0] = "handrail"
	return cmd
}

func actCommand(p *process.Program) *cobra.Command {
	return &cobra.Command{
		Use: "__act", Hidden: true, Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			var ord orders
			if !process.IsTerminal(p.Stdin) {
				b, err := io.ReadAll(io.LimitReader(p.Stdin, maxOrders))
				if err != nil || json.Unmarshal(b, &ord) != nil {
					ord = orders{}
				}
			}
			if len(args) != 2 || ord.Act.Bundle != args[0] || strconv.FormatInt(ord.Act.Seq, 10) != args[1] {
				return process.Usage("resume the incident with `handrail resume`",
					"__act is for handrail itself: it carries out an act that was confirmed at a gate")
			}
			return carryOut(p, cmd, ord)
		},
	}
}

// carryOut is the executor. A hangup is not for it: the terminal it was ordered
// from may be gone. The first interrupt is passed on to the act.
func carryOut(p *process.Program, cmd *cobra.Command, ord orders) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	inside := *p
	inside.State, inside.Tools, inside.Environ = ord.State, ord.Tools, ord.Environ
	inside.Reach = process.Reach{Kubeconfig: ord.Kubeconfig, Context: ord.Context, Namespace: ord.Namespace, Kubectl: ord.Kubectl}
	if err := os.Chdir(ord.Dir); err != nil {
		return fmt.Errorf("act %d: %w", ord.Act.Seq, err)
	}
	c, err := newConfig(&inside)
	if err != nil {
		return err
	}
	c.Dir = filepath.Dir(ord.Act.Bundle)
	c.Env.User, c.Env.Host = ord.User, ord.Host
	check := c.Env.Trusted
	c.Env.Trusted = func(dir string) error {
		if slices.ContainsFunc(ord.Trust, func(root string) bool { return root != "" && within(dir, root) }) {
			return nil
		}
		return check(dir)
	}
	return session.Carry(cmd.Context(), c, ord.Act)
}

// within reports whether dir is root or below it, links resolved.
func within(dir, root string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	base, baseErr := filepath.EvalSymlinks(root)
	if errors.Join(err, baseErr) != nil {
		return false
	}
	rel, err := filepath.Rel(base, dir)
	return err == nil && filepath.IsLocal(rel)
}
