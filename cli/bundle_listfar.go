package cli

import (
	"context"
	"fmt"

	"handrail/session/index/depot"
)

// listFar names the bundles of a bucket or a repository. What runbook they went
// through and how they ended stands in them, and nothing is fetched for a list.
func (p *program) listFar(ctx context.Context, place string, as output) error {
	from, err := p.far(ctx, place)
	if err != nil {
		return err
	}
	l, err := depot.List(ctx, from)
	if err != nil {
		return depotError(err)
	}
	for _, name := range l.Strangers {
		fmt.Fprintf(p.stderr, "passed over, since it is no bundle: %s\n", safe(name))
	}
	if l.More {
		fmt.Fprintf(p.stderr, "There is more; these are among the first %d names.\n", depot.MaxListed)
	}
	if as == asJSON {
		out := []row{}
		for _, b := range l.Bundles {
			out = append(out, row{ID: b.ID, Path: b.Place, Size: b.Size, Stored: known(b.When)})
		}
		return printJSON(p.stdout, out)
	}
	if len(l.Bundles) == 0 {
		fmt.Fprintln(p.stderr, "There are no bundles yet.")
		return nil
	}
	var rows [][]string
	for _, b := range l.Bundles {
		rows = append(rows, []string{b.ID, fmt.Sprint(b.Size), stamp(b.When), b.Place})
	}
	return table(p.stdout, []string{"ID", "BYTES", "STORED", "PATH"}, rows)
}
