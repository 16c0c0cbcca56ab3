package watchdog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/steps/catalog"
)

// Flags are those of `handrail run --check`.
type Flags struct {
	On              bool
	junit, textfile string
}

// Add defines the flags.
func (w *Flags) Add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.On, "check", false, "read the probes and watches once, open nothing, and end with 3 where one is not green")
	cmd.Flags().StringVar(&w.junit, "junit", "", "with --check, write the result as JUnit XML to this `file`")
	cmd.Flags().StringVar(&w.textfile, "textfile", "", "with --check, write it to this `file` for Prometheus (node_exporter's textfile collector)")
}

// Fit says whether the flags go together.
func (w *Flags) Fit(walks bool) error {
	switch {
	case w.On && walks:
		return process.Usage("leave out --answers, --dry-run and --template", "--check walks nothing")
	case !w.On && (w.junit != "" || w.textfile != ""):
		return process.Usage("add --check", "--junit and --textfile are of a check")
	}
	return nil
}

// Run reads a runbook once by what open gives for its digest, writes the files that were asked for, and prints what came of it.
func (w *Flags) Run(ctx context.Context, p *process.Program, b settings.Book, given map[string]string, o process.Output, open func(digest string) (Read, error)) error {
	if err := Takes(b.Runbook); err != nil {
		return process.Usage("write one with watches under verify; see docs/watchdogs.md", "%w", err)
	}
	params, err := settings.Bind(b.Runbook, given)
	if err != nil {
		return err
	}
	if err := b.Check(p); err != nil {
		return err
	}
	read, err := open(b.Runbook.Digest)
	if err != nil {
		return err
	}
	report, err := Run(ctx, b.Runbook, params, catalog.New(), time.Now, read)
	if err != nil {
		return err
	}
	if w.junit != "" {
		err = replaceFile(w.junit, report.JUnit)
	}
	if w.textfile != "" {
		err = errors.Join(err, replaceFile(w.textfile, report.Textfile))
	}
	if o == process.AsJSON {
		err = errors.Join(err, process.PrintKind(p, "RunCheck", report))
	} else {
		show(p, report)
	}
	if err != nil {
		return err
	}
	if !report.Green() {
		return &process.Problem{Code: process.ExitOpen}
	}
	return nil
}

func show(p *process.Program, r Report) {
	for _, read := range r.Reads {
		showReading(p, "read", read)
	}
	for _, c := range r.Checks {
		showReading(p, string(c.State), c.Reading)
	}
}

func showReading(p *process.Program, word string, r Reading) {
	fmt.Fprintf(p.Stdout, "%-7s  %s: %s\n", word, process.Safe(r.ID), process.Safe(r.Title))
	line := func(text string) { fmt.Fprintf(p.Stdout, "         %s\n", process.Safe(text)) }
	line(r.Why)
	for _, f := range r.Findings {
		line(string(f.Level) + ": " + f.Say)
	}
	for _, g := range r.Gaps {
		line("not seen: " + g)
	}
}
