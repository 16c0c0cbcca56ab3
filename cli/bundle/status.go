package bundle

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session/journal"
	"handrail/session/pin"
	"handrail/session/report"
)

func bundleStatus(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status [BUNDLE]", Short: "Print a short update for the channel",
		Long: `status says in a few lines where it is, what is known, what was changed, what is next, and who
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
			return process.PrintJSON(p, report.StatusOf(st, contextOf(path)))
		}
		_, err = io.WriteString(p.Stdout, report.StatusOf(st, contextOf(path)).Text())
		return err
	}
	return cmd
}

// contextOf is the context that an incident is about, "" where its journal names
// none.
func contextOf(path string) string {
	name, _, err := pin.OwnContext(path)
	if err != nil {
		return "" // what is wrong with the journal is said by what reads all of it
	}
	return name
}

// BundleOrNewest is the bundle that was named, else the newest incident that is
// open; that of a drill only where no real one is.
func BundleOrNewest(p *process.Program, args []string) (string, error) {
	if len(args) > 0 {
		return Find(p, args[0])
	}
	rows, err := Rows(p)
	if err != nil {
		return "", err
	}
	for _, practised := range []bool{false, true} {
		for _, r := range rows {
			if r.Outcome == "" && r.Err == "" && r.Kind == "" && (r.Drill != "") == practised {
				return r.Path, nil
			}
		}
	}
	for _, r := range rows {
		if r.Err != "" {
			return "", process.Hint(fmt.Errorf("no readable incident is open; %q cannot be read: %s", r.ID, r.Err), "see `handrail bundle list`")
		}
	}
	return "", process.Usage("name a bundle: see `handrail bundle list`", "no incident is open")
}
