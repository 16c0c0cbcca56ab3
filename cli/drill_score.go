package cli

import (
	"github.com/spf13/cobra"

	"handrail/drills"
	"handrail/session"
	"handrail/session/debrief"
	"handrail/steps/catalog"
)

func drillScore(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "score [BUNDLE]", Short: "Tell how an incident was walked, a drill beside its reference",
		Long: `score says of an incident how soon there was evidence, what unsafe attempts were
stopped, what was changed and owed, and the path that was taken: for a drill beside
the path of the reference, with how it was judged at its close. Without a BUNDLE it
takes the newest drill.`,
		Args: between(0, "a BUNDLE or INCIDENT"),
	}
	o := outputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := p.drillBundle(args)
		if err != nil {
			return err
		}
		st, err := session.LoadState(path)
		if err != nil {
			return hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
		}
		known, err := drills.Score(st, catalog.New())
		if err != nil {
			return err
		}
		d := debrief.Of(st, known)
		if *o == asJSON {
			return printJSON(p.stdout, d)
		}
		for _, line := range d.Lines() {
			lines(p.stdout, "", line)
		}
		return nil
	}
	return cmd
}

// drillBundle is the bundle that was named, else that of the newest drill.
func (p *program) drillBundle(args []string) (string, error) {
	if len(args) > 0 {
		return p.find(args[0])
	}
	rows, err := p.rows()
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.Drill != "" && r.Err == "" {
			return r.Path, nil
		}
	}
	return "", usage("name a bundle: see `handrail bundle list`", "no drill was walked here")
}
