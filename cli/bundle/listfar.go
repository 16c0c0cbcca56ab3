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
		fmt.Fprintf(p.Stderr, "skipped, not a bundle: %s\n", process.Safe(name))
	}
	if l.More {
		fmt.Fprintf(p.Stderr, "There is more; these are among the first %d names.\n", depot.MaxListed)
	}
	return process.Listing[depot.BundleInfo]{
		Head: []string{"ID", "BYTES", "STORED", "PATH"},
		Row:  func(b depot.BundleInfo) []string { return []string{b.ID, fmt.Sprint(b.Size), stamp(b.When), b.Place} },
		JSON: func(b depot.BundleInfo) any { return row{ID: b.ID, Path: b.Place, Size: b.Size, Stored: Known(b.When)} },
		None: noBundles,
	}.Print(p, as, l.Bundles)
}
