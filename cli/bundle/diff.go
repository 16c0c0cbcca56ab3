package bundle

import (
	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session/journal"
	"handrail/session/report"
	"handrail/triage"
)

func bundleDiff(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Show what two incidents share and where they part",
		Long: `diff sets two incidents side by side: runbook, conclusions, answers, findings,
facts by step, gates and outcome. Ids, times and durations differ in any two
incidents and do not count.`,
		Args: process.Exactly("a BUNDLE A", "a BUNDLE B"),
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var states [2]triage.State
		for i, name := range args {
			path, done, err := openable(p, name)
			if err != nil {
				return err
			}
			defer done()
			if states[i], err = journal.LoadState(path); err != nil {
				return process.Hint(err, "see what is wrong with `handrail bundle verify "+name+"`")
			}
		}
		c := report.Compare(states[0], states[1])
		return o.Print(p, c, func() error { return report.WriteComparison(p.Stdout, c) })
	}
	return cmd
}
