package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"handrail/session"
	"handrail/session/index"
	"handrail/session/report"
)

func bundleCommand(p *program) *cobra.Command {
	return group("bundle", "Evidence bundles", bundleList(p), bundleShow(p),
		bundleSeal(p), bundleSign(p), bundleTimestamp(p), bundleAnchor(p), bundleVerify(p), bundleLeaks(p), bundleRedact(p),
		bundleStatus(p), bundleExport(p), bundleDiff(p),
		bundleQuery(p), p.noted("push", bundlePush(p)), p.noted("pull", bundlePull(p)))
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
	Size     int64      `json:"size,omitempty"`   // packed, in a bucket or registry
	Stored   *time.Time `json:"stored,omitempty"` // in a bucket
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
	from := cmd.Flags().String("from", "", places+", instead of this machine's")
	o := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if farScheme(*from) != "" {
			return p.listFar(cmd.Context(), *from, *o)
		}
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
				out = append(out, row{ID: r.ID, Path: r.Path, Runbook: r.Runbook, Severity: string(r.Severity), Outcome: r.Outcome, Sealed: r.Sealed,
					Opened: known(r.Opened), Closed: known(r.Closed), Drill: r.Drill, Problem: r.Err})
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
		return report.WriteMarkdown(p.stdout, report.New(st, handlingFor(path)))
	}
	return cmd
}
