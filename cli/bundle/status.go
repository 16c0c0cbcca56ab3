package bundle

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session/journal"
	"handrail/session/report"
)

func bundleStatus(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status [BUNDLE]", Short: "Print a short update for the channel",
		Long: `status says in a few lines what is known, what was changed, what is next, and who
holds what since when: for the incident channel, at any moment. Without a BUNDLE it
takes the newest incident that is open.`,
		Args: process.Between(0, "a BUNDLE"),
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := BundleOrNewest(p, args)
		if err != nil {
			return err
		}
		st, err := journal.LoadState(path)
		if err != nil {
			return process.Hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
		}
		if *o == process.AsJSON {
			return process.PrintJSON(p.Stdout, report.StatusOf(st))
		}
		_, err = io.WriteString(p.Stdout, report.Status(st))
		return err
	}
	return cmd
}

// BundleOrNewest is the bundle that was named, else the newest incident that is
// open.
func BundleOrNewest(p *process.Program, args []string) (string, error) {
	if len(args) > 0 {
		return Find(p, args[0])
	}
	rows, err := Rows(p)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.Outcome == "" && r.Err == "" {
			return r.Path, nil
		}
	}
	for _, r := range rows {
		if r.Err != "" {
			return "", process.Hint(fmt.Errorf("no readable incident is open; %q cannot be read: %s", r.ID, r.Err), "see `handrail bundle list`")
		}
	}
	return "", process.Usage("name a bundle: see `handrail bundle list`", "no incident is open")
}
