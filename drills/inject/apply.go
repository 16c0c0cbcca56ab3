package inject

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
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

func readApply(p Parser, n *yaml.Node) action {
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
		a.after = p.Number(p.Need(k, g, "after"), "after", 0, 100)
		a.signal = p.OneOf(p.Need(k, g, "signal"), "signal", stage.SignalNames())
	}
	return a
}

// apply starts tofu in a session of its own, so that it outlives this terminal
// as a job on a runner would, and waits for what the log says of it.
func (a apply) apply(ctx context.Context, st *stage.Stage) error {
	if a.workspace != "" {
		if err := prepare(ctx, st, a.workspace); err != nil {
			return err
		}
	}
	args := []string{"apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1"}
	if a.pace > 0 {
		args = append(args, "-var", "pace="+strconv.Itoa(int(a.pace.Seconds())))
	}
	cmd, ended, err := st.Launch(args...)
	if err != nil {
		return err
	}
	begun := func(log []byte) bool {
		return lineBegun.Match(log) && (a.throttled == 0 || st.Refusals(ctx) >= a.throttled)
	}
	if a.signal == "" {
		st.Say("an apply runs")
		return st.AwaitLog(ctx, ended, "hold the lock and begin to work", func(log []byte) bool { return begun(log) && st.Held(ctx) })
	}
	st.Say("an apply runs; it dies after %d operations", a.after)
	if err := st.AwaitLog(ctx, ended, fmt.Sprintf("complete %d operations", a.after), func(log []byte) bool {
		return begun(log) && len(lineComplete.FindAll(log, -1)) >= a.after && len(lineBegun.FindAll(log, -1)) > a.after
	}); err != nil {
		return err
	}
	if err := cmd.Process.Signal(stage.Signals()[a.signal]); err != nil {
		return fmt.Errorf("killing the apply: %w", err)
	}
	select {
	case <-ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if a.signal == "KILL" && !st.Held(ctx) {
		return errors.New("the apply was killed and its lock is gone: the drill would start with nothing wrong; stop it and start again")
	}
	return nil
}
