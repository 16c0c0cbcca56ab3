package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"handrail/session"
	"handrail/session/report"
)

func bundleStatus(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status [BUNDLE]", Short: "Print a short update for the channel",
		Long: `status says in a few lines what is known, what was changed, what is next, and who
holds what since when: for the incident channel, at any moment. Without a BUNDLE it
takes the newest incident that is open.`,
		Args: between(0, "a BUNDLE"),
	}
	o := outputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := p.bundleOrNewest(args)
		if err != nil {
			return err
		}
		st, err := session.LoadState(path)
		if err != nil {
			return hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
		}
		if *o == asJSON {
			return printJSON(p.stdout, report.StatusOf(st))
		}
		_, err = io.WriteString(p.stdout, report.Status(st))
		return err
	}
	return cmd
}

// bundleOrNewest is the bundle that was named, else the newest incident that is
// open.
func (p *program) bundleOrNewest(args []string) (string, error) {
	if len(args) > 0 {
		return p.find(args[0])
	}
	rows, err := p.rows()
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
			return "", hint(fmt.Errorf("no readable incident is open; %q cannot be read: %s", r.ID, r.Err), "see `handrail bundle list`")
		}
	}
	return "", usage("name a bundle: see `handrail bundle list`", "no incident is open")
}
