package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"handrail/session"
	"handrail/steps/catalog"
	"handrail/tui"
)

func replayCommand(p *program) *cobra.Command {
	var plain bool
	cmd := &cobra.Command{
		Use: "replay BUNDLE", Short: "Step through a recorded incident exactly as it went",
		Long: `replay shows a recorded incident on the screens it was worked on, entry by entry:
← and → step, space plays at the pace it went (nobody waits longer than two
seconds), home and end go to the first and the last entry, a number and enter to
that one. It says REPLAY all the time, asks no cluster, runs no program and can
act on nothing. With --plain it prints the entries as lines.`,
		Args: exactly("a BUNDLE: a path, or the id of an incident"),
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print the entries as lines instead of drawing screens")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := p.find(args[0])
		if err != nil {
			return err
		}
		if !plain {
			if err := p.needsTerminal("or use --plain"); err != nil {
				return err
			}
		}
		tape, err := session.OpenReplay(path, session.Config{Catalog: catalog.New(), Library: p.runbook, Now: p.now})
		if err != nil {
			return hint(err, "see what is wrong with `handrail bundle verify "+args[0]+"`")
		}
		if plain {
			return printReplay(p.stdout, tape)
		}
		return p.draw(cmd.Context(), tui.Config{Now: p.now, Version: buildVersion().String(), NoColor: p.getenv("NO_COLOR") != "",
			In: p.stdin, Out: p.stdout, Replay: tape})
	}
	return cmd
}

// printReplay prints every entry on a line, and below it what a probe found.
func printReplay(w io.Writer, tape *session.Replay) error {
	_, last := tape.Place()
	out := &firstError{w: w}
	fmt.Fprintf(out, "REPLAY of %s: %d entries. Nothing is asked and nothing can be done.\n", safe(idOf(tape.Snapshot().Bundle)), last+1)
	for i := 0; i <= last; i++ {
		tape.Go(i)
		r := tape.Recorded()
		mark := ""
		if r.Level == "warning" || r.Level == "critical" {
			mark = strings.ToUpper(r.Level) + ": "
		}
		fmt.Fprintf(out, "[%d] %s  %s  %s  %s%s\n", r.Seq, r.At.UTC().Format("2006-01-02 15:04:05Z"), safe(r.Type), safe(r.Actor), mark, safe(r.Text))
		step, ok := tape.Snapshot().State.Step(r.Step)
		if !ok || r.Type != "probe.end" {
			continue
		}
		for _, f := range step.Findings {
			fmt.Fprintf(out, "      %s: %s\n", safe(f.Level), safe(f.Say))
		}
		for _, g := range step.Gaps {
			fmt.Fprintf(out, "      could not be checked: %s\n", safe(g))
		}
	}
	if why := tape.Ends(); why != "" {
		fmt.Fprintf(out, "The replay ends here: %s\n", safe(why))
	}
	return out.err
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
