package drills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/runbooks/strict"
)

const (
	// applyLimit is for a machine under load; an apply reaches its point in seconds.
	applyLimit = 5 * time.Minute
	look       = 20 * time.Millisecond
)

// The lines of an apply log that its progress is read from.
var (
	lineBegun    = []byte(": Creating...")
	lineComplete = []byte(": Creation complete after ")
)

// apply is the verb tofu.apply.
type apply struct {
	workspace string
	pace      time.Duration // that each creation takes, 0 for the workspace's own
	after     int           // completions before the kill
	signal    string        // "" lets the apply go on
}

func readApply(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.apply", "dir", "pace", "kill")
	a := apply{workspace: p.Text(p.need(n, f, "dir"), "dir"), pace: p.span(f["pace"], "pace")}
	if a.workspace != "" {
		if known := workspaces(); !slices.Contains(known, a.workspace) {
			p.Fail(f["dir"], strict.Meant(a.workspace, known), "there is no workspace %q", a.workspace)
		}
	}
	if k := f["kill"]; k != nil {
		g := p.Fields(k, "kill", "after", "signal")
		a.after = p.Number(p.need(k, g, "after"), "after", 0, 100)
		a.signal = p.OneOf(p.need(k, g, "signal"), "signal", signalNames())
	}
	return a
}

func workspaces() []string {
	entries, err := fs.ReadDir(embedded, "workspaces")
	if err != nil {
		return nil // embedded: it is there or the program does not build
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// apply starts tofu in a session of its own, so that it outlives this terminal
// as a job on a runner would, and waits for what the log says of it.
func (a apply) apply(ctx context.Context, st *stage) error {
	st.say("preparing the workspace %s", a.workspace)
	if err := a.prepare(ctx, st); err != nil {
		return err
	}
	args := []string{"apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1"}
	if a.pace > 0 {
		args = append(args, "-var", "pace="+strconv.Itoa(int(a.pace.Seconds())))
	}
	log, err := os.OpenFile(st.rec.Log, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log of the apply: %w", err)
	}
	defer log.Close()
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(st.tofu, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.rec.Dir, st.robotEnviron(), log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the apply: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // reaps it; ends with the apply, which Stop ends
	st.rec.Processes = append(st.rec.Processes, process{PID: cmd.Process.Pid, Start: startMark(cmd.Process.Pid)})
	if err := st.save(); err != nil {
		return err
	}
	if a.signal == "" {
		st.say("an apply runs")
		return st.until(ctx, ended, "hold the lock and begin to create", func(log []byte) bool {
			return bytes.Contains(log, lineBegun) && st.held(ctx)
		})
	}
	st.say("an apply runs; it dies after %d creations", a.after)
	if err := st.until(ctx, ended, fmt.Sprintf("complete %d creations", a.after), func(log []byte) bool {
		return bytes.Count(log, lineComplete) >= a.after && bytes.Count(log, lineBegun) > a.after
	}); err != nil {
		return err
	}
	if err := cmd.Process.Signal(signals()[a.signal]); err != nil {
		return fmt.Errorf("killing the apply: %w", err)
	}
	select {
	case <-ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if a.signal == "KILL" && !st.held(ctx) {
		return errors.New("the apply was killed and its lock is gone: the drill would start with nothing wrong; stop it and start again")
	}
	return nil
}

// prepare writes the workspace and initialises it twice: for robot with a data
// directory of its own, and for the operator, who finds an ordinary one. The
// first creates the state, so that the second only reads.
func (a apply) prepare(ctx context.Context, st *stage) error {
	from := path.Join("workspaces", a.workspace)
	entries, err := fs.ReadDir(embedded, from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(st.rec.Dir, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		src, err := fs.ReadFile(embedded, path.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(st.rec.Dir, e.Name()), src, 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(st.cliConfig(), []byte(cliConfig), 0o600); err != nil {
		return err
	}
	if err := a.init(ctx, st, st.rec.Namespace.RobotKubeconfig, st.robotEnviron()); err != nil {
		return fmt.Errorf("initialising as robot: %w", err)
	}
	if _, err := st.state(ctx); err != nil {
		return fmt.Errorf("the state that robot's init made: %w", err)
	}
	if err := a.init(ctx, st, st.rec.Namespace.OperatorKubeconfig, st.operatorEnviron(nil)); err != nil {
		return fmt.Errorf("initialising as operator: %w", err)
	}
	return nil
}

func (a apply) init(ctx context.Context, st *stage, kubeconfig string, env []string) error {
	cmd := exec.CommandContext(ctx, st.tofu, "init", "-input=false", "-no-color",
		"-backend-config=namespace="+st.rec.Namespace.Name,
		"-backend-config=secret_suffix="+st.rec.Suffix,
		"-backend-config=config_path="+kubeconfig)
	cmd.Dir, cmd.Env = st.rec.Dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, last(out))
	}
	return nil
}

// until waits until the log of the apply shows what is wanted. An apply that
// ends before is an error with the end of its log.
func (st *stage) until(ctx context.Context, ended <-chan error, what string, seen func(log []byte) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, applyLimit, fmt.Errorf("the apply did not %s within %s: see %q", what, applyLimit, st.rec.Log))
	defer cancel()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		log, err := os.ReadFile(st.rec.Log)
		if err != nil {
			return err
		}
		if seen(log) {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the apply ended before it could %s (%v): %s", what, err, last(log))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// last is the end of what a program said.
func last(out []byte) string {
	const most = 1500
	out = bytes.TrimSpace(out)
	return string(out[max(0, len(out)-most):])
}
