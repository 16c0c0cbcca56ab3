package drills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

const (
	// applyLimit is for a machine under load; an apply reaches its point in seconds.
	applyLimit = 5 * time.Minute
	look       = 20 * time.Millisecond
)

// The lines of an apply log that its progress is read from.
var (
	lineBegun    = regexp.MustCompile(`(?m)^\S.*: (?:Creating|Modifying|Destroying)\.\.\.`)
	lineComplete = regexp.MustCompile(`(?m)^\S.*: (?:Creation|Modifications|Destruction) complete after `)
)

// apply is the verb tofu.apply.
type apply struct {
	workspace string        // "" for the root module as it is
	pace      time.Duration // that each creation takes, 0 for the workspace's own
	throttled int           // requests that the API of the drill refuses before it is seen to hang
	after     int           // completions before the kill
	signal    string        // "" lets the apply go on
}

func readApply(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.apply", "dir", "pace", "throttled", "kill")
	a := apply{pace: p.span(f["pace"], "pace")}
	if f["dir"] != nil {
		a.workspace = p.workspace(n, f)
	}
	if f["throttled"] != nil {
		a.throttled = p.Number(f["throttled"], "throttled", 1, 100)
	}
	if k := f["kill"]; k != nil {
		g := p.Fields(k, "kill", "after", "signal")
		a.after = p.Number(p.need(k, g, "after"), "after", 0, 100)
		a.signal = p.OneOf(p.need(k, g, "signal"), "signal", signalNames())
	}
	return a
}

// apply starts tofu in a session of its own, so that it outlives this terminal
// as a job on a runner would, and waits for what the log says of it.
func (a apply) apply(ctx context.Context, st *stage) error {
	if a.workspace != "" {
		if err := st.prepare(ctx, a.workspace); err != nil {
			return err
		}
	}
	args := []string{"apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1"}
	if a.pace > 0 {
		args = append(args, "-var", "pace="+strconv.Itoa(int(a.pace.Seconds())))
	}
	cmd, ended, err := st.launch(args...)
	if err != nil {
		return err
	}
	begun := func(log []byte) bool {
		return lineBegun.Match(log) && (a.throttled == 0 || st.refusals(ctx) >= a.throttled)
	}
	if a.signal == "" {
		st.say("an apply runs")
		return st.until(ctx, ended, "hold the lock and begin to work", func(log []byte) bool { return begun(log) && st.held(ctx) })
	}
	st.say("an apply runs; it dies after %d operations", a.after)
	if err := st.until(ctx, ended, fmt.Sprintf("complete %d operations", a.after), func(log []byte) bool {
		return begun(log) && len(lineComplete.FindAll(log, -1)) >= a.after && len(lineBegun.FindAll(log, -1)) > a.after
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

// launch starts tofu in a session of its own, with the log of the apply.
func (st *stage) launch(args ...string) (*exec.Cmd, <-chan error, error) {
	log, err := os.OpenFile(st.rec.Log, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("log of the apply: %w", err)
	}
	defer log.Close()
	if _, err := io.WriteString(log, echoed(args)); err != nil {
		return nil, nil, err
	}
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(st.tofu, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.rec.Dir, st.robotEnviron(), log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting the apply: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // reaps it; ends with the apply, which Stop ends
	st.rec.Processes = append(st.rec.Processes, process{PID: cmd.Process.Pid, Start: startMark(cmd.Process.Pid)})
	return cmd, ended, st.save()
}

// echoed is the command as a pipeline prints it before its output: the log of a
// job shows where its run begins.
func echoed(args []string) string { return "$ tofu " + strings.Join(args, " ") + "\n" }

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
