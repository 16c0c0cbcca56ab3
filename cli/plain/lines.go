package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/cli/process"
	"handrail/session/view"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
)

// incident is an open session as the linear dialogue needs it.
type incident interface {
	Do(ctx context.Context, in triage.Intent) error
	Snapshot() view.Snapshot
	Changed() <-chan struct{}
}

// Dialogue drives an incident line by line: it says what the loop would do next
// and reads one line. Nothing is redrawn and nothing depends on colour, so that
// it works with a screen reader, a dumb terminal and a pipe. It decides nothing:
// a line becomes an intent, and the session answers.
type Dialogue struct {
	S     incident
	Lines <-chan string
	Out   io.Writer
	Now   func() time.Time
	// Params are the parameters of a runbook; nil where none can be looked up.
	Params func(runbook string) []steps.Field

	told  int64 // the newest moment of the timeline that was told
	phase triage.Phase
	asked string // the request to a second person that was told last
	shown string // how the post-conditions stood when they were told last
	lower string // the same, of a lower severity

	ungated string // why no gate serves, as it was told last
}

var ErrLeft = errors.New("left")

// ReadLines hands out the lines of r until it ends. The goroutine lives as long
// as a read on r does, which for a terminal is the life of the process.
func ReadLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		defer fault.To(func(error) {}) // the input has ended then
		for sc := bufio.NewScanner(r); sc.Scan(); {
			lines <- sc.Text()
		}
	}()
	return lines
}

// takesText says whether what is typed at the prompt is the answer itself.
func takesText(k triage.IntentKind) bool {
	return k == triage.DoAnswer || k == triage.DoConclude || k == triage.DoManual || k == triage.DoConfirm || k == triage.DoApprove
}

// settle waits until nothing is running and returns the newest snapshot.
func (d *Dialogue) settle(ctx context.Context) (view.Snapshot, error) {
	shown := map[string]bool{}
	for {
		snap := d.S.Snapshot()
		if len(snap.Running) == 0 {
			return snap, ctx.Err()
		}
		for _, r := range snap.Running {
			if !shown[r.Step] {
				shown[r.Step] = true
				if r.Act {
					d.sayf("  ... %s (%s): Ctrl-C leaves, and it goes on by itself", r.Step, r.Kind)
					continue
				}
				d.sayf("  ... %s (%s)", r.Step, r.Kind)
			}
		}
		select {
		case <-d.S.Changed():
		case <-ctx.Done():
			return snap, context.Cause(ctx)
		}
	}
}

// read prints a prompt and returns the next line.
func (d *Dialogue) read(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(d.Out, prompt)
	select {
	case line, ok := <-d.Lines:
		if !ok {
			fmt.Fprintln(d.Out)
			return "", ErrLeft
		}
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(d.Out)
		return "", context.Cause(ctx)
	}
}

// must reads until something is typed.
func (d *Dialogue) must(ctx context.Context, prompt string) (string, error) {
	for {
		line, err := d.read(ctx, prompt)
		if err != nil || strings.TrimSpace(line) != "" {
			return strings.TrimSpace(line), err
		}
	}
}

func (d *Dialogue) say(text string) { process.Lines(d.Out, "", text) }

func (d *Dialogue) sayf(format string, args ...any) { d.say(fmt.Sprintf(format, args...)) }

// handOption is the option to record a repair by hand.
func handOption(snap view.Snapshot) triage.Option {
	for _, o := range snap.Options {
		if o.Kind == triage.DoHand {
			return o
		}
	}
	return triage.Option{Kind: triage.DoHand}
}

func recommended(snap view.Snapshot) (triage.Option, bool) {
	for _, o := range snap.Options {
		if o.Recommended {
			return o, true
		}
	}
	return triage.Option{}, false
}
