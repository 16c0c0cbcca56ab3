package bundle

import (
	"context"
	"fmt"

	"handrail/cli/process"
	"handrail/session/index/depot"
)

// listFar names the bundles of a bucket or a repository. What runbook they went
// through and how they ended stands in them, and nothing is fetched for a list.
func listFar(ctx context.Context, p *process.Program, place string, as process.Output) error {
	from, err := far(ctx, p, place)
	if err != nil {
		return err
	}
	l, err := depot.List(ctx, from)
	if err != nil {
		return DepotError(err)
	}
	for _, name := range l.Strangers {
		fmt.Fprintf(p.Stderr, "passed over, since it is no bundle: %s\n", process.Safe(name))
	}
	if l.More {
		fmt.Fprintf(p.Stderr, "There is more; these are among the first %d names.\n", depot.MaxListed)
	}
	if as == process.AsJSON {
		out := []row{}
		for _, b := range l.Bundles {
			out = append(out, row{ID: b.ID, Path: b.Place, Size: b.Size, Stored: Known(b.When)})
		}
		return process.PrintJSON(p.Stdout, out)
	}
	if len(l.Bundles) == 0 {
		fmt.Fprintln(p.Stderr, "There are no bundles yet.")
		return nil
	}
	var rows [][]string
	for _, b := range l.Bundles {
		rows = append(rows, []string{b.ID, fmt.Sprint(b.Size), stamp(b.When), b.Place})
	}
	return process.Table(p.Stdout, []string{"ID", "BYTES", "STORED", "PATH"}, rows)
}
