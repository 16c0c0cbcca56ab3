package object

import (
	"context"
	"fmt"
	"sync"

	"handrail/steps/cluster"
	"handrail/steps/fault"
)

// spacesAtOnce is how many namespaces are asked at the same time.
const spacesAtOnce = 8

// readSpaces reads a table of all namespaces, one after another in order of
// name. A table without its objects does not say the namespace of a row, and one
// with them is ten times as long; so the namespaces are listed and each is read
// on its own: a request for each namespace and one for each further page, up to
// eight at once. The list is then of several moments, and objects that an
// orphaned namespace left behind are not in it; a read of metadata has neither
// limit.
func (l *listRun) readSpaces(ctx context.Context) error {
	names, err := l.spaces(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	// First pages are fetched ahead; most namespaces have no other. Only so many
	// are in memory, whatever the size of the one whose turn it is.
	ahead := make(chan *firstPage, spacesAtOnce-1)
	var fell error
	wg.Go(func() {
		defer close(ahead)
		defer fault.To(func(err error) { fell = err })
		for _, name := range names {
			a := newFirstPage(name, l.pages(name))
			select {
			case ahead <- a:
			case <-ctx.Done():
				return
			}
			wg.Go(func() {
				defer close(a.done)
				defer fault.To(func(err error) { a.err = err })
				a.err = a.pages.Ahead(ctx)
			})
		}
	})
	var denied error
	for a := range ahead {
		err := a.wait(ctx)
		if err == nil {
			err = l.readOne(ctx, a.pages, l.reader(a.name))
		}
		if ctx.Err() != nil {
			return l.Explain("GET", l.resource.Path(a.name, ""), ctx.Err())
		}
		if err != nil {
			denied = err
			l.lost = append(l.lost, fmt.Sprintf("namespace %s: %v", a.name, err))
		}
	}
	if fell != nil {
		return fell
	}
	if len(l.lost) == len(names) {
		return denied
	}
	return nil
}

// spaces names all namespaces.
func (l *listRun) spaces(ctx context.Context) ([]string, error) {
	r := cluster.Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"}
	var names []string
	space := metadataReader{each: func(it item) error { names = append(names, it.Name); return nil }}
	read := func(s *cluster.Scanner) (cluster.Object, error) { return cluster.Object{}, space.object(s) }
	err := l.ListItems(ctx, r.Path("", ""), cluster.AsMetaList, nil, read, func(cluster.Object) {})
	if cluster.IsForbidden(err) {
		return nil, fmt.Errorf("%w: %w", errNamespaces, err)
	}
	return names, err
}

// firstPage is the first page of one namespace, fetched before its turn.
type firstPage struct {
	name  string
	pages *cluster.Pages
	done  chan struct{}
	err   error
}

func newFirstPage(name string, p *cluster.Pages) *firstPage {
	return &firstPage{name: name, pages: p, done: make(chan struct{})}
}

func (a *firstPage) wait(ctx context.Context) error {
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
