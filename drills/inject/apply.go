package inject

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"handrail/drills/stage"
)

// The lines of an apply log that its progress is read from.
var (
	lineBegun    = regexp.MustCompile(`(?m)^\S.*: (?:Creating|Modifying|Destroying)\.\.\.`)
	lineComplete = regexp.MustCompile(`(?m)^\S.*: (?:Creation|Modifications|Destruction) complete after `)
)

// apply is the verb tofu.apply.
type apply struct {
	Dir       string        `key:"dir" as:"workspace"`      // "" for the root module as it is
	Pace      time.Duration `key:"pace"`                    // that each creation takes, 0 for the workspace's own
	Throttled int           `key:"throttled" range:"1 100"` // requests that the API of the drill refuses before it is seen to hang
	Kill      *struct {
		After  int    `key:"after,required" range:"0 100"` // completions
		Signal string `key:"signal,required" as:"signal"`
	} `key:"kill"` // nil lets the apply go on
}

// apply starts tofu in a session of its own, so that it outlives this terminal
// as a job on a runner would, and waits for what the log says of it.
func (a apply) apply(ctx context.Context, st *stage.Stage) error {
	if a.Dir != "" {
		if err := prepare(ctx, st, a.Dir); err != nil {
			return err
		}
	}
	args := []string{"apply", "-input=false", "-no-color", "-auto-approve", "-parallelism=1"}
	if a.Pace > 0 {
		args = append(args, "-var", "pace="+strconv.Itoa(int(a.Pace.Seconds())))
	}
	cmd, ended, err := st.Launch(args...)
	if err != nil {
		return err
	}
	begun := func(log []byte) bool {
		return lineBegun.Match(log) && (a.Throttled == 0 || st.Refusals(ctx) >= a.Throttled)
	}
	if a.Kill == nil {
		st.Say("an apply runs")
		return st.AwaitLog(ctx, ended, "hold the lock and begin to work", func(log []byte) bool { return begun(log) && st.Held(ctx) })
	}
	st.Say("an apply runs; it dies after %d operations", a.Kill.After)
	if err := st.AwaitLog(ctx, ended, fmt.Sprintf("complete %d operations", a.Kill.After), func(log []byte) bool {
		return begun(log) && len(lineComplete.FindAll(log, -1)) >= a.Kill.After && len(lineBegun.FindAll(log, -1)) > a.Kill.After
	}); err != nil {
		return err
	}
	if err := cmd.Process.Signal(stage.Signals()[a.Kill.Signal]); err != nil {
		return fmt.Errorf("killing the apply: %w", err)
	}
	select {
	case <-ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if a.Kill.Signal == "KILL" && !st.Held(ctx) {
		return errors.New("the apply was killed and its lock is gone: the drill would start with nothing wrong; stop it and start again")
	}
	return nil
}
