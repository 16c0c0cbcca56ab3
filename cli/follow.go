package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/session/replay"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui"
)

func followCommand(p *process.Program) *cobra.Command {
	var plain bool
	cmd := &cobra.Command{
		Use: "follow [BUNDLE]", Short: "Watch an incident that another person works on",
		Long: `follow shows an incident that another handrail has, as it goes: on this machine by
its id, or a bundle in a folder that both can read. The newest entry comes to the
front by itself; ← goes back and end follows again. It locks nothing, asks no
cluster and can act on nothing. With --plain it prints one line for each entry,
until the incident is closed; with -o json each line is a document. Without a BUNDLE it takes the newest open incident.

An incident on another machine is followed where it is pushed to, s3://BUCKET/PREFIX/ID
or oci://HOST/REPOSITORY:ID, if the person who works on it runs bundle push --follow. Its
newest copy is asked for every five seconds, verified, and kept in a temporary folder;
it says that it is a copy, and how old.`,
		Args: process.Between(0, "a BUNDLE: a path, the id of an incident, or where one is pushed to"),
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print the entries as lines instead of drawing screens")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *o == process.AsJSON {
			plain = true
		}
		if len(args) == 1 && bundle.FarScheme(args[0]) != "" {
			return followFar(cmd.Context(), p, args[0], plainly(p, plain), *o)
		}
		path, err := bundle.BundleOrNewest(p, args)
		if err != nil {
			return err
		}
		plain = plainly(p, plain)
		tape, err := replay.Follow(path, bundle.Reading(p))
		if err != nil {
			return process.Hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
		}
		if !plain {
			return look(cmd.Context(), p, tape)
		}
		defer tape.Close()
		return printFollowed(cmd.Context(), p, tape, *o)
	}
	return cmd
}

// printFollowed prints what is there and then what comes, until the incident is
// closed or the operator leaves.
func printFollowed(ctx context.Context, p *process.Program, tape tui.Tape, o process.Output) error {
	out := &firstError{w: p.Stdout}
	here := *p
	here.Stdout = out
	tick := time.NewTicker(bundle.LookingPlain)
	defer tick.Stop()
	ends, trouble := "", ""
	told := int64(0)
	for next := 0; ; {
		_, last := tape.Place()
		for ; next <= last; next++ {
			tape.Go(next)
			if o != process.AsJSON {
				printEntry(out, tape)
			} else if err := process.PrintLine(&here, entryOf(tape)); err != nil {
				return err
			}
		}
		if s := tape.Snapshot().State; s.GivenOver() && s.Handed.Seq != told && s.Outcome == "" {
			told = s.Handed.Seq
			fmt.Fprintf(p.Stderr, "handrail: %s handed over to %s, and the keyboard is free; to continue: handrail resume %s\n", process.Safe(s.Handed.From), process.Safe(s.Handed.For), process.Safe(s.Incident))
		}
		if why := tape.Ends(); why != ends && why != "" {
			fmt.Fprintf(p.Stderr, "handrail: the journal cannot be read on: %s; it is looked at again\n", process.Safe(why))
		}
		ends = tape.Ends()
		if far, ok := tape.(*replay.Pushed); ok {
			if h := far.Heard(); h.Err != trouble {
				if trouble = h.Err; trouble != "" {
					fmt.Fprintf(p.Stderr, "handrail: the newest copy was not seen: %s; it is looked at again\n", process.Safe(trouble))
				}
			}
		}
		if outcome := tape.Snapshot().State.Outcome; outcome != "" || out.err != nil {
			return out.err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			tape.Grow()
		}
	}
}

// entryOut is the public form of an entry of a journal.
type entryOut struct {
	Seq      int64           `json:"seq"`
	At       time.Time       `json:"at"`
	Type     string          `json:"type"`
	Actor    string          `json:"actor"`
	Phase    triage.Phase    `json:"phase,omitempty"`
	Step     string          `json:"step,omitempty"`
	Level    string          `json:"level,omitempty"`
	Text     string          `json:"text"`
	Findings []steps.Finding `json:"findings,omitempty"` // of a probe that ended
	Gaps     []string        `json:"gaps,omitempty"`     // what it could not check
}

// entryOf is the entry that is shown.
func entryOf(tape tui.Tape) entryOut {
	r := tape.Recorded()
	out := entryOut{Seq: r.Seq, At: r.At.UTC(), Type: r.Type, Actor: r.Actor, Phase: r.Stay.Phase, Step: r.Step, Level: r.Level, Text: r.Text}
	if step, ok := tape.Snapshot().State.Step(r.Step); ok && r.Type == "probe.end" {
		out.Findings, out.Gaps = step.Findings, step.Gaps
	}
	return out
}

// printEntry prints the entry that is shown on a line, and below it what a probe
// found.
func printEntry(out io.Writer, tape tui.Tape) {
	r := tape.Recorded()
	if s := r.Stay; s.Seq == r.Seq && s.Phase != "" {
		back := ""
		if s.Back {
			back = "back to "
		}
		fmt.Fprintf(out, "== %s%s\n", back, process.Safe(string(s.Phase)))
	}
	mark := ""
	if r.Level == "warning" || r.Level == "critical" {
		mark = strings.ToUpper(r.Level) + ": "
	}
	fmt.Fprintf(out, "[%d] %s  %s  %s  %s%s\n", r.Seq, r.At.UTC().Format("2006-01-02 15:04:05Z"), process.Safe(r.Type), process.Safe(r.Actor), mark, process.Safe(r.Text))
	step, ok := tape.Snapshot().State.Step(r.Step)
	if !ok || r.Type != "probe.end" {
		return
	}
	for _, f := range step.Findings {
		fmt.Fprintf(out, "      %s: %s\n", process.Safe(string(f.Level)), process.Safe(f.Say))
	}
	for _, g := range step.Gaps {
		fmt.Fprintf(out, "      could not be checked: %s\n", process.Safe(g))
	}
}
