package cli

import (
	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/drills"
	"handrail/session/debrief"
	"handrail/session/journal"
	"handrail/steps/catalog"
)

func drillScore(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "score [BUNDLE]", Short: "Show how an incident was walked, a drill beside its reference",
		Long: `score says of an incident how soon there was evidence, what unsafe attempts were
stopped, what was changed and owed, and the path that was taken: for a drill beside
the path of the reference, with how it was judged at its close. Without a BUNDLE it
takes the newest drill.`,
		Args: process.Between(0, "a BUNDLE or INCIDENT"),
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := drillBundle(p, args)
		if err != nil {
			return err
		}
		st, err := journal.LoadState(path)
		if err != nil {
			return process.Hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
		}
		known, err := drills.Score(st, catalog.New())
		if err != nil {
			return err
		}
		d := debrief.Of(st, known)
		if *o == process.AsJSON {
			return process.PrintJSON(p, d)
		}
		for _, line := range d.Lines() {
			process.Lines(p.Stdout, "", line)
		}
		return nil
	}
	return cmd
}

// drillBundle is the bundle that was named, else that of the newest drill.
func drillBundle(p *process.Program, args []string) (string, error) {
	if len(args) > 0 {
		return bundle.Find(p, args[0])
	}
	rows, err := bundle.Rows(p)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.Drill != "" && r.Err == "" {
			return r.Path, nil
		}
	}
	return "", process.Usage("name a bundle: see `handrail bundle list`", "no drill was walked here")
}
