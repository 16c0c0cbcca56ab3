package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/session/replay"
	"handrail/session/report"
	"handrail/tui"
)

func replayCommand(p *process.Program) *cobra.Command {
	var plain bool
	cmd := &cobra.Command{
		Use: "replay BUNDLE", Short: "Step through a recorded incident exactly as it went",
		Long: `replay shows a recorded incident on the screens it was worked on, entry by entry:
← and → step, space plays at the pace it went (no pause is longer than two
seconds), home and end go to the first and the last entry, a number and enter to
that one. It says REPLAY all the time, asks no cluster, runs no program and can
act on nothing. With --plain it prints the entries as lines, with -o json as data.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print the entries as lines instead of drawing screens")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := bundle.Find(p, args[0])
		if err != nil {
			return err
		}
		plain = *o == process.AsJSON || plainly(p, plain)
		tape, err := replay.Open(path, bundle.Reading(p))
		if err != nil {
			return process.Hint(err, "see what is wrong with `handrail bundle verify "+args[0]+"`")
		}
		if plain {
			return o.Print(p, replayed(tape), func() error { return printReplay(p.Stdout, tape) })
		}
		return look(cmd.Context(), p, tape)
	}
	return cmd
}

// look shows a recorded incident on the screens.
func look(ctx context.Context, p *process.Program, tape tui.Tape) error {
	err := draw(ctx, p, tui.Config{Replay: tape, Status: report.Status, Save: func(ctx context.Context, b string, c io.Reader) (string, error) { return saveNew(ctx, p, b, c) }, Report: func(ctx context.Context, b string) (report.Document, error) { return bundle.ReportNow(ctx, p, b) }})
	if interrupted(ctx, err) {
		err = nil
	}
	return errors.Join(err, tape.Close())
}

// printReplay prints every entry on a line, and below it what a probe found.
func printReplay(w io.Writer, tape *replay.Tape) error {
	_, last := tape.Place()
	out := &firstError{w: w}
	fmt.Fprintf(out, "REPLAY of %s: %d entries. Nothing is asked and nothing can be done.\n", process.Safe(bundle.IDOf(tape.Snapshot().Bundle)), last+1)
	for i := 0; i <= last; i++ {
		tape.Go(i)
		printEntry(out, tape)
	}
	if why := tape.Ends(); why != "" {
		fmt.Fprintf(out, "The replay ends here: %s\n", process.Safe(why))
	}
	return out.err
}

// replayOut is the public form of a recorded incident.
type replayOut struct {
	Incident string     `json:"incident"`
	Entries  []entryOut `json:"entries"`
	Ends     string     `json:"ends,omitempty"` // why no more of the journal can be shown
}

func replayed(tape *replay.Tape) replayOut {
	out := replayOut{Incident: bundle.IDOf(tape.Snapshot().Bundle), Entries: []entryOut{}}
	_, last := tape.Place()
	for i := 0; i <= last; i++ {
		tape.Go(i)
		out.Entries = append(out.Entries, entryOf(tape))
	}
	out.Ends = tape.Ends()
	return out
}

// firstError keeps the first error of a row of writes.
type firstError struct {
	w   io.Writer
	err error
}

func (f *firstError) Write(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.w.Write(b)
	f.err = err
	return n, err
}
