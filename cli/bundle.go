package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"handrail/session"
	"handrail/session/index"
	"handrail/session/report"
	"handrail/triage"
)

func bundleCommand(p *program) *cobra.Command {
	return group("bundle", "Evidence bundles", bundleList(p), bundleShow(p),
		bundleSeal(p), bundleSign(p), bundleAnchor(p), bundleVerify(p), bundleLeaks(p), bundleRedact(p),
		bundleStatus(p), bundleExport(p), bundleDiff(p),
		bundleQuery(p), bundlePush(p), bundlePull(p))
}

// row is the public form of an incident.
type row struct {
	ID       string     `json:"id"`
	Path     string     `json:"path"`
	Runbook  string     `json:"runbook"`
	Severity string     `json:"severity"`
	Outcome  string     `json:"outcome"` // "" while the incident goes on
	Sealed   bool       `json:"sealed"`
	Opened   *time.Time `json:"opened"`
	Closed   *time.Time `json:"closed"`
	Drill    string     `json:"drill,omitempty"`
	Problem  string     `json:"problem,omitempty"`
}

func (p *program) rows() ([]index.Row, error) {
	dir, err := p.incidents()
	if err != nil {
		return nil, err
	}
	return index.Rows(dir)
}

func bundleList(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the bundles of this machine, the newest first", Args: exactly()}
	from := cmd.Flags().String("from", "", "directory of bundles, instead of this machine's")
	o := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		store, err := p.store(*from)
		if err != nil {
			return err
		}
		list, err := store.Rows()
		if err != nil {
			return err
		}
		if *o == asJSON {
			out := []row{}
			for _, r := range list {
				out = append(out, row{r.ID, r.Path, r.Runbook, string(r.Severity), r.Outcome, r.Sealed,
					known(r.Opened), known(r.Closed), r.Drill, r.Err})
			}
			return printJSON(p.stdout, out)
		}
		if len(list) == 0 {
			fmt.Fprintln(p.stderr, "There are no bundles yet.")
			return nil
		}
		var rows [][]string
		for _, r := range list {
			state := r.Outcome
			switch {
			case r.Err != "":
				state = "unreadable: " + r.Err
			case state == "":
				state = "in " + string(r.Phase)
			}
			rows = append(rows, []string{r.ID, string(r.Severity), r.Runbook, state, stamp(r.Opened), r.Path})
		}
		return table(p.stdout, []string{"ID", "SEVERITY", "RUNBOOK", "STATE", "OPENED", "PATH"}, rows)
	}
	return cmd
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func bundleShow(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show BUNDLE", Short: "Show an incident as a report, from its bundle alone",
		Args: exactly("a BUNDLE: a path, or the id of an incident"),
	}
	o := outputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := p.find(args[0])
		if err != nil {
			return err
		}
		st, err := session.LoadState(path)
		if err != nil {
			return hint(err, "see what is wrong with `handrail bundle verify "+args[0]+"`")
		}
		if *o == asJSON {
			return printJSON(p.stdout, st)
		}
		if err := report.Markdown(p.stdout, st); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "\nCoverage: %s.\n", triage.CoverageLine(triage.Coverage(st)))
		return err
	}
	return cmd
}
