package object

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// listRun is one list while it is read: each page goes into the artifact and is
// dropped, so that memory does not grow with the list.
type listRun struct {
	*cluster.Client
	resource  cluster.Resource
	namespace string // "" for all, and for kinds that have none
	all       bool
	metadata  bool
	selector  string

	out  steps.Sink
	kept listArtifact

	count       int
	names       []string // the first report.MostNames
	nameless    bool
	terminating int
	leaving     []string       // names of the first of those
	finalizers  map[string]int // how many hold it
	sum         *listSum
	moments     int      // how often the list had to be continued at a later one
	lost        []string // namespaces that could not be read, and why
}

func (l *listRun) read(ctx context.Context) error {
	var err error
	if l.all && !l.metadata {
		err = l.readSpaces(ctx)
	} else {
		err = l.readOne(ctx, l.pages(l.namespace), l.reader(""))
	}
	if err == nil {
		l.open()
		l.kept.close()
	}
	return err
}

// pages begins a list of one namespace, or of all.
func (l *listRun) pages(namespace string) *cluster.Pages {
	query := url.Values{}
	if l.selector != "" {
		query.Set("labelSelector", l.selector)
	}
	accept := cluster.AsMetaList
	if !l.metadata {
		accept = cluster.AsTable
		query.Set("includeObject", "None")
	}
	return cluster.NewPages(l.Client, l.resource.Path(namespace, ""), accept, query)
}

// reader takes pages apart; within names the namespace of rows that do not.
func (l *listRun) reader(within string) func(raw []byte) (cluster.ListMeta, error) {
	if l.metadata {
		return (&metadataReader{each: l.item}).page
	}
	t := &tableReader{}
	t.row = func(name string, cells []string) error { return l.row(t, within, name, cells) }
	return func(raw []byte) (cluster.ListMeta, error) {
		md, err := t.page(raw)
		if err == nil && l.kept.w == nil {
			l.head(t.titles)
		}
		return md, err
	}
}

// readOne reads the pages of one collection.
func (l *listRun) readOne(ctx context.Context, p *cluster.Pages, read func([]byte) (cluster.ListMeta, error)) error {
	defer func() { l.moments += p.Moments }()
	return p.Each(ctx, func(raw []byte) (cluster.ListMeta, int, error) {
		before := l.count
		md, err := read(raw)
		if err == nil && md.Continue != "" {
			l.out.Line(l.progress(md))
		}
		return md, l.count - before, err
	})
}

func (l *listRun) progress(md cluster.ListMeta) string {
	if left := md.RemainingItemCount; left != nil && *left > 0 {
		return fmt.Sprintf("%s: %d of about %d", l.resource, l.count, int64(l.count)+*left)
	}
	return fmt.Sprintf("%s: %d, more to come", l.resource, l.count)
}

// named counts one object and keeps its name.
func (l *listRun) named(name string) {
	if l.count++; len(l.names) < report.MostNames {
		l.names = append(l.names, steps.Clip(name, report.LongestValue))
	}
}

func (l *listRun) row(t *tableReader, within, name string, cells []string) error {
	if l.kept.w == nil {
		l.head(t.titles)
	}
	if l.nameless = l.nameless || t.name < 0; within != "" {
		l.kept.text(within)
		l.kept.text("\t")
		name = within + "/" + name
	}
	l.named(name)
	for i, cell := range cells {
		if i > 0 {
			l.kept.text("\t")
		}
		l.kept.text(steps.Flat(cell))
	}
	l.kept.text("\n")
	return nil
}

func (l *listRun) head(titles []string) {
	l.open()
	if l.all {
		titles = append([]string{"NAMESPACE"}, titles...)
	}
	l.kept.text(strings.Join(titles, "\t") + "\n")
}

func (l *listRun) item(it item) error {
	name := it.Name
	if l.all {
		name = it.Namespace + "/" + it.Name
	}
	l.named(name)
	if it.DeletionTimestamp != "" {
		if l.terminating++; len(l.leaving) < report.MostNames {
			l.leaving = append(l.leaving, steps.Clip(name, report.LongestValue))
		}
	}
	for _, f := range it.Finalizers {
		if l.finalizers == nil {
			l.finalizers = map[string]int{}
		}
		if f = steps.Clip(f, report.LongestValue); l.finalizers[f] > 0 || len(l.finalizers) <= report.MostNames {
			l.finalizers[f]++
		}
	}
	if err := l.sum.add(it); err != nil {
		return err
	}
	raw, err := json.Marshal(it)
	if err != nil {
		return err
	}
	l.open()
	l.kept.line(raw)
	return nil
}

func (l *listRun) open() {
	if l.kept.w != nil {
		return
	}
	media := steps.MediaText
	if l.metadata {
		media = steps.MediaJSON
	}
	l.kept.begin(l.out.Artifact("list", media))
}

// listArtifact is the artifact. What cannot be kept is told at the end: the list goes on
// without it.
type listArtifact struct {
	to  io.WriteCloser
	w   *bufio.Writer
	err error
}

func (k *listArtifact) begin(to io.WriteCloser) { k.to, k.w = to, bufio.NewWriterSize(to, 64<<10) }

// The writer keeps its first error, and flush returns it.
func (k *listArtifact) text(s string) { _, _ = k.w.WriteString(s) }

func (k *listArtifact) line(raw []byte) {
	_, _ = k.w.Write(raw)
	_ = k.w.WriteByte('\n')
}

func (k *listArtifact) close() {
	k.err = k.w.Flush()
	if err := k.to.Close(); k.err == nil {
		k.err = err
	}
}
