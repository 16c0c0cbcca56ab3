package manifests

import (
	"context"
	"errors"
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
)

// Source is where the wanted state of an application comes from.
type Source struct {
	Of        []app.Source
	URL       string // of a source of Flux
	Revision  string // newest that it holds, "" for none
	Suspended *app.Suspension
	Fails     string // the controller's words, "" where it can be had
	Ignore    string // what it leaves out of its commits
	Changes   []string
	Unread    string // why the source object could not be read, "" where it was
}

// String is repository, revision and path, each as far as it is known.
func (s Source) String() string {
	var all []string
	for _, of := range s.Of {
		parts := []string{}
		for _, p := range []string{of.Ref, s.URL, of.Repo, of.Chart, of.Revision, of.Path} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		all = append(all, strings.Join(parts, " "))
	}
	return strings.Join(all, "; ")
}

// SourceOf reads the source of an application. That of Argo CD stands in the application
// itself.
func SourceOf(ctx context.Context, c *cluster.Client, a app.App) Source {
	s := Source{Of: a.Sources}
	if a.Controller == app.ArgoCD {
		s.Revision = a.Tried
		return s
	}
	if len(a.Sources) == 0 || a.Sources[0].Ref == "" {
		s.Unread = "the application names no source"
		return s
	}
	kind, rest, _ := strings.Cut(a.Sources[0].Ref, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	_, o, err := c.Lookup(ctx, app.SourceGroup+"/v1", kind, namespace, name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		s.Fails = a.Sources[0].Ref + " does not exist"
		return s
	case err != nil:
		s.Unread = err.Error()
		return s
	}
	held, err := app.ParseSource(o.Raw)
	if err != nil {
		s.Unread = err.Error()
		return s
	}
	s.URL, s.Revision, s.Suspended, s.Fails, s.Ignore, s.Changes = held.URL, held.Revision, held.Suspension, held.Fails, held.Ignore, held.Changes
	if kind == "HelmRepository" {
		// Its revision is that of an index, which no release can be held against.
		s.Revision = ""
	}
	return s
}
