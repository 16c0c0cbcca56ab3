// Package plain drives a session line by line, for a terminal that cannot be drawn
// on and for a screen reader: it prints what is new in the snapshot, offers what
// the loop offers, and takes one line at a time.
//
// It is a driver like the screens and decides nothing: each line becomes an intent
// for [handrail/session.Session.Do], and a refusal is printed with its cure. A
// phrase is typed whole; no line says yes to everything. What came from outside is
// made visible before it is printed.
package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"handrail/cli/process"
	"handrail/session/approval"
	"handrail/session/view"
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

// Run talks until the incident is closed, the person leaves, the input ends or
// ctx does. Only the first gives nil.
func (d *Dialogue) Run(ctx context.Context) error {
	d.say("Enter does what is proposed. ? lists what else can be typed.")
	for {
		snap, err := d.settle(ctx)
		if err != nil {
			return err
		}
		d.catchUp(snap)
		d.lowering(snap)
		d.unserved(snap)
		switch {
		case snap.State.Outcome != "":
			d.sayf("The incident is closed: %s.", snap.State.Outcome)
			return nil
		case snap.Dead != "":
			return fmt.Errorf("nothing more can be recorded: %s", snap.Dead)
		}
		opt, ok := recommended(snap)
		if ok {
			d.offer(snap, opt)
		} else {
			d.say("Nothing is proposed. Type o for what can be done.")
		}
		line, err := d.read(ctx, "> ")
		if err != nil {
			return err
		}
		err = d.obey(ctx, snap, opt, ok, strings.TrimSpace(line))
		var no *triage.Refused
		switch {
		case err == nil:
		case errors.As(err, &no):
			d.refused(no.Step, no.Refusals)
			d.say("  o lists what else can be done.")
		case errors.Is(err, ErrLeft), errors.Is(err, process.ErrSignal), ctx.Err() != nil:
			return err
		default:
			d.sayf("Could not do that: %v", err)
		}
	}
}

// obey carries out one line.
func (d *Dialogue) obey(ctx context.Context, snap view.Snapshot, opt triage.Option, ok bool, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case line == "":
		if !ok {
			return nil
		}
		return d.take(ctx, snap, opt, "")
	case line == "?":
		d.help()
	case line == "o":
		d.options(snap)
	case line == "f":
		d.facts(snap)
	case line == "q":
		return ErrLeft
	case approval.IsApproval(line) && snap.ApprovalOf(line) != "":
		return d.S.Do(ctx, triage.Intent{Kind: triage.DoApprove, Step: snap.ApprovalOf(line), Sig: line, Seen: snap.State.Seq})
	case line == "m":
		return d.take(ctx, snap, handOption(snap), "")
	case line == "h":
		return d.handOver(ctx, snap)
	case line == "p", word == "p" && strings.Contains(rest, "="):
		return d.reparam(ctx, snap, rest)
	case word == "n" && rest != "":
		return d.S.Do(ctx, triage.Intent{Kind: triage.DoNote, Text: rest, Seen: snap.State.Seq})
	case word == "s" && rest != "" && ok && opt.Step != "":
		return d.S.Do(ctx, triage.Intent{Kind: triage.DoSkip, Step: opt.Step, Text: rest, Seen: snap.State.Seq})
	default:
		if n, err := strconv.Atoi(line); err == nil {
			if n < 1 || n > len(snap.Options) {
				d.sayf("There is no option %d; o lists them.", n)
				return nil
			}
			return d.take(ctx, snap, snap.Options[n-1], "")
		}
		if ok && takesText(opt.Kind) {
			return d.take(ctx, snap, opt, line)
		}
		d.sayf("%q is not understood; ? lists what can be typed.", line)
	}
	return nil
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
