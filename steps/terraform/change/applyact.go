package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/runlog"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tool"
)

// Act implements steps.Gater. It reads the target once more, and applies a copy
// of the very bytes that were approved.
func (g ApplyGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	refused := func(why string) (steps.Outcome, error) {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was started: " + why}, nil
	}
	in, err := steps.ArgsOf[steps.Params](p)
	if err != nil {
		return refused(err.Error())
	}
	t, err := g.read(ctx, in, out)
	if err != nil {
		return refused("the target could not be read again: " + err.Error())
	}
	if why := g.moved(p, t, in); why != "" {
		return refused(why)
	}
	o, _, err := g.perform(ctx, t, in, out)
	return o, err
}

// perform applies a copy of the very bytes that were read, and says what came of it:
// end is nil where nothing was started.
func (g ApplyGate) perform(ctx context.Context, t *applyInput, in steps.Params, out steps.Sink) (o steps.Outcome, end *applyEnd, err error) {
	refused := func(why string) (steps.Outcome, *applyEnd, error) {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was started: " + why}, nil, nil
	}
	file, drop, err := g.exact(t)
	if err != nil {
		return refused(err.Error())
	}
	defer drop()
	if err := steps.Begin(ctx); err != nil {
		return refused(err.Error())
	}
	began := g.Env.Now()
	log, exit, gap, runErr := g.runApply(ctx, t, file, out)
	if runErr != nil {
		if errors.Is(runErr, tool.ErrStillRuns) {
			return steps.Outcome{}, nil, runErr
		}
		return refused(runErr.Error())
	}
	// The outcome matters even when the person has turned away.
	readCtx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Minute)
	defer stop()
	after, err := g.readAfter(readCtx, in, out)
	if err != nil {
		return steps.Outcome{}, nil, fmt.Errorf("the apply ended with exit %d, %s; its target could not be read again: %w", exit, log.Brief(), err)
	}
	e := applyEnd{t: t, after: after, log: log, exit: exit, began: began}
	o = e.judge(g.Mode)
	if gap != "" {
		o.Response += "\n" + gap
	}
	if gap := keepTally(out, e.tally()); gap != "" {
		o.Response += "\n" + gap
	}
	return o, &e, nil
}

// moved says what differs from the preview or is against the act now, "" for nothing.
func (g ApplyGate) moved(p steps.Preview, t *applyInput, in steps.Params) string {
	var needs []steps.Need
	f := floors{need: &needs}
	f.plan(t, in.Text("digest"), g.Mode)
	f.bindings(t)
	f.free(g.Env, t)
	f.runs(g.Env, t)
	if len(needs) > 0 { // they say more than what moved
		return needs[0].Why
	}
	return movedSince(p, t.target(g.Mode))
}

// exact copies the plan to where it cannot be replaced, and holds the copy to the
// digest that was approved.
func (g ApplyGate) exact(t *applyInput) (name string, drop func(), err error) {
	dir, err := g.private()
	if err != nil {
		return "", nil, fmt.Errorf("place for the plan: %w", err)
	}
	drop = func() { _ = os.RemoveAll(dir) } // the sweep of old plans takes what stays
	name = filepath.Join(dir, plan.FileName)
	err = func() error {
		from, err := steps.OpenRegular(t.name)
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = to.Close() }() // its sum is taken from what it holds
		if _, err := io.Copy(to, io.LimitReader(from, plan.MaxSize+1)); err != nil {
			return err
		}
		if _, err := to.Seek(0, io.SeekStart); err != nil {
			return err
		}
		sum, err := plan.DigestOf(context.Background(), to)
		if err == nil && sum != t.sum {
			err = fmt.Errorf("the plan %s changed while it was copied", t.name)
		}
		return err
	}()
	if err != nil {
		drop()
		return "", nil, err
	}
	return name, drop, nil
}

// recordedState is what is recorded after an apply.
type recordedState struct {
	state    state.Snapshot
	lock     backend.Lock
	where    string
	recorded map[string]bool // addresses, and whether the object is tainted
	deposed  map[string]int
}

func (g ApplyGate) readAfter(ctx context.Context, in steps.Params, out steps.Sink) (*recordedState, error) {
	_, s, err := backend.OpenAt(ctx, g.Env, in, out)
	if err != nil {
		return nil, err
	}
	return readRecorded(ctx, s)
}

// applyEnd is how an apply came to its end.
type applyEnd struct {
	t     *applyInput
	after *recordedState
	log   *runlog.Log
	exit  int
	began time.Time
}

// tally says what became of each address that the plan acts on: by the log, and
// held against what is recorded now.
func (e applyEnd) tally() map[string]string {
	out, want := map[string]string{}, map[string]int{}
	for _, c := range e.t.saved.Doc.Changes {
		want[c.Address] += operations(c.Act)
	}
	for _, c := range e.t.saved.Doc.Changes {
		if c.Act == tfplan.Read {
			continue
		}
		a := c.Address
		switch {
		case e.log.Failed[a], e.log.Running[a] > 0 && e.waited():
			out[a] = runlog.Failed
		case e.log.Running[a] > 0:
			out[a] = runlog.InFlight
		case want[a] == 0:
			out[a] = recordOnly(c, e.after)
		case e.log.Ends[a] >= want[a]:
			out[a] = runlog.Complete
			if !e.after.shows(c) {
				out[a] = runlog.Unproven
			}
		case e.log.Ends[a] > 0:
			out[a] = runlog.Half
		case e.exit == 0 && c.Act == tfplan.Update && e.after.shows(c):
			// A value that the plan did not know came out as it was: the tool skips it without a line.
			out[a] = runlog.NoChange
		default:
			out[a] = runlog.NeverStarted
		}
	}
	return out
}

// waited reports whether the program ended by itself, when all that it had begun
// had come to an end: an operation that the log does not end then failed. The
// deletion of what a replacement leaves fails without a line of its own.
func (e applyEnd) waited() bool {
	return e.exit == 1 && e.log.Interrupts < 2 && !e.log.Panicked
}

// operations is how many operations an act takes, as the tool logs them.
func operations(a tfplan.Act) int {
	switch a {
	case tfplan.Create, tfplan.Update, tfplan.Delete, tfplan.ForgetReplace:
		return 1
	case tfplan.Replace, tfplan.ReplaceSafer:
		return 2
	}
	return 0
}

// recordOnly judges what the log does not mention: moves, imports and what is
// dropped happen in the state alone.
func recordOnly(c tfplan.Change, now *recordedState) string {
	_, here := now.recorded[c.Address]
	if here == (c.Act != tfplan.Forget) {
		return runlog.Complete
	}
	return runlog.NeverStarted
}

// shows reports whether the record says that a change is done.
func (n *recordedState) shows(c tfplan.Change) bool {
	tainted, here := n.recorded[c.Address]
	switch {
	case c.Deposed != "":
		return true // its address stays
	case c.Act == tfplan.Delete:
		return !here
	}
	return here && !tainted
}

// judge decides by what is recorded now, the log and the exit code, in that order.
func (e applyEnd) judge(mode planMode) steps.Outcome {
	now := []steps.KV{
		{Key: keySerial, Value: serialOf(e.after.state)}, {Key: keyLineage, Value: e.after.state.Lineage},
		{Key: keyStateObject, Value: e.after.where}, {Key: "exit", Value: strconv.Itoa(e.exit)},
	}
	if e.after.lock.Held {
		now = append(now, steps.KV{Key: "lock", Value: "held as " + prose.OrUnknown(e.after.lock.ID)})
	} else {
		now = append(now, steps.KV{Key: "lock", Value: lockWord(e.after.lock)})
	}
	by := map[string][]string{}
	tally := e.tally()
	for _, a := range slices.Sorted(maps.Keys(tally)) {
		by[tally[a]] = append(by[tally[a]], a)
	}
	o := steps.Outcome{Result: steps.Done, After: now}
	moved := e.after.state.Serial != e.t.state.Serial || e.after.state.Exists != e.t.state.Exists
	switch {
	case e.exit == 0 && len(by[runlog.Complete])+len(by[runlog.NoChange]) == len(tally):
		o.Response = fmt.Sprintf("Applied: %s complete.", prose.Plural(len(by[runlog.Complete]), "change"))
		if none := by[runlog.NoChange]; len(none) > 0 {
			o.Response += " Not needed, as the values came out as they were: " + prose.List(none) + "."
		}
		if mode == RefreshOnly {
			o.Response = "The state was written, and nothing else was changed."
		}
	case e.exit != 0 && e.log.Started == 0 && !moved:
		o.Result, o.Response = steps.Refused, fmt.Sprintf("The program refused the plan (exit %d), and nothing was changed.", e.exit)
	default:
		o.Result, o.Response = steps.Failed, fmt.Sprintf("The apply ended with exit %d after %d of %d changes.", e.exit, len(by[runlog.Complete]), len(tally))
	}
	for _, word := range []string{runlog.Complete, runlog.Half, runlog.Failed, runlog.InFlight, runlog.NeverStarted, runlog.Unproven, runlog.NoChange} {
		if len(by[word]) > 0 && o.Result == steps.Failed {
			o.Response += "\n" + prose.Upper(word) + ": " + prose.List(by[word]) + "."
		}
	}
	for i, f := range e.log.Errors {
		if i == maxErrorsSaid {
			o.Response += fmt.Sprintf("\nand %d more errors; see the log.", e.log.ErrorCount-i)
			break
		}
		o.Response += "\n" + strings.TrimSpace(f.Address+" "+steps.Clip(f.Text, 400))
	}
	if moved {
		o.Response += fmt.Sprintf("\nSerial %s, then %s.", serialOf(e.t.state), serialOf(e.after.state))
	}
	return e.warn(o)
}

const maxErrorsSaid = 10

// warn says what was left behind that the next run would trip over.
func (e applyEnd) warn(o steps.Outcome) steps.Outcome {
	if l := e.after.lock; l.Held {
		o.Response += fmt.Sprintf("\nThe lock is held as %s: by another run that began since, or by this one, which could not release it. Look at it before anything else.", prose.OrUnknown(l.ID))
	}
	if info, err := os.Stat(filepath.Join(e.t.w.Dir, "errored.tfstate")); err == nil && !info.ModTime().Before(e.began.Add(-time.Second)) {
		o.Result = steps.Failed
		o.Response += "\nThe state could not be saved: what was made is recorded in " + filepath.Join(e.t.w.Dir, "errored.tfstate") + " alone. Save that file first."
	}
	if e.log.LostLock {
		o.Result = steps.Failed
		o.Response += "\nThe lock was gone when the run released it: another run may have written meanwhile."
	}
	return o
}

func serialOf(s state.Snapshot) string {
	if !s.Exists {
		return "none"
	}
	return strconv.FormatInt(s.Serial, 10)
}

// keepTally keeps what became of each address, however many they are.
func keepTally(out steps.Sink, tally map[string]string) (gap string) {
	return steps.Keep(out, "operations", steps.MediaJSON, func(w io.Writer) error { return json.NewEncoder(w).Encode(tally) })
}
