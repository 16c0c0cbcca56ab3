// Package bundle holds the commands below `handrail bundle`: list, show, verify,
// seal, sign, time-stamp, export, push, pull, query, diff, redact and leaks, and
// what other commands need to find a bundle by path, id or the beginning of one.
//
// Each command reads or moves evidence and changes no incident. What leaves this
// machine is verified before it goes and after it came; what is destroyed (a
// value redacted after the fact, a key) is named first. Each use of a bundle is
// noted beside it, so that its custody can be shown. A bundle that does not verify
// ends a command with [process.ExitTampered].
package bundle

import (
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session/index"
	"handrail/session/journal"
	"handrail/session/report"
)

func BundleCommand(p *process.Program) *cobra.Command {
	return process.Group("bundle", "Evidence bundles", bundleList(p), bundleShow(p),
		bundleSeal(p), bundleSign(p), bundleTimestamp(p), bundleAnchor(p), bundlePost(p), bundleVerify(p), bundleLeaks(p), bundleRedact(p),
		bundleStatus(p), bundleExport(p), bundleDiff(p),
		bundleQuery(p), noted(p, "push", bundlePush(p)), noted(p, "pull", bundlePull(p)))
}

func bundleList(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the bundles of this machine, the newest first", Args: process.Exactly()}
	from := cmd.Flags().String("from", "", places+", instead of this machine's")
	o := process.OutputFlag(cmd)
	listing := process.Listing[index.Row]{
		Head: []string{"ID", "SEVERITY", "RUNBOOK", "STATE", "OPENED", "WHO", "WHERE", "PATH"},
		Row: func(r index.Row) []string {
			state := r.Outcome
			switch {
			case r.Err != "":
				state = "unreadable: " + r.Err
			case state == "":
				state = "in " + string(r.Phase)
			}
			where := r.Target.Words()
			if r.Drill != "" {
				where = "drill " + r.Drill
			}
			if r.Kind != "" {
				where = strings.TrimSpace(r.Kind + " " + where)
			}
			return []string{r.ID, string(r.Severity), r.Runbook, state, stamp(r.Opened), r.Operator, where, r.Path}
		},
		JSON: func(r index.Row) any {
			return row{ID: r.ID, Path: r.Path, Runbook: r.Runbook, Severity: string(r.Severity), Outcome: r.Outcome, Sealed: r.Sealed,
				Opened: Known(r.Opened), Closed: Known(r.Closed), Drill: r.Drill, Kind: r.Kind, Who: r.Operator, Where: r.Target.Words(), Problem: r.Err}
		},
		None: noBundles,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if FarScheme(*from) != "" {
			return listFar(cmd.Context(), p, *from, *o)
		}
		store, err := Store(p, *from)
		if err != nil {
			return err
		}
		list, err := store.Rows()
		if err != nil {
			return err
		}
		return listing.Print(p, *o, list)
	}
	return cmd
}

func bundleShow(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show BUNDLE", Short: "Show an incident as a report, from its bundle alone",
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		st, err := journal.LoadState(path)
		if err != nil {
			return process.Hint(err, "see what is wrong with `handrail bundle verify "+args[0]+"`")
		}
		return o.Print(p, st, func() error {
			return report.WriteMarkdown(p.Stdout, report.New(st, report.In(contextOf(path)), handlingFor(path)))
		})
	}
	return cmd
}
