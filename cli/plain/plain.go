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
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"handrail/cli/process"
	"handrail/session/approval"
	"handrail/session/view"
	"handrail/triage"
)

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
