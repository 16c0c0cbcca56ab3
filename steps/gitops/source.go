package gitops

import (
	"context"
	"errors"
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
)

// source is where the wanted state of an application comes from.
type source struct {
	of        []app.Source
	url       string // of a source of Flux
	revision  string // newest that it holds, "" for none
	suspended *app.Suspension
	fails     string // the controller's words, "" where it can be had
	changes   []string
	unread    string // why the source object could not be read, "" where it was
}

// String is repository, revision and path, each as far as it is known.
func (s source) String() string {
	var all []string
	for _, of := range s.of {
		parts := []string{}
		for _, p := range []string{of.Ref, s.url, of.Repo, of.Chart, of.Revision, of.Path} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		all = append(all, strings.Join(parts, " "))
	}
	return strings.Join(all, "; ")
}

// sourceOf reads the source of an application. That of Argo CD stands in the application
// itself.
func sourceOf(ctx context.Context, c *cluster.Client, a app.App) source {
	s := source{of: a.Sources}
	if a.Controller == app.ArgoCD {
		s.revision = a.Tried
		return s
	}
	if len(a.Sources) == 0 || a.Sources[0].Ref == "" {
		s.unread = "the application names no source"
		return s
	}
	kind, rest, _ := strings.Cut(a.Sources[0].Ref, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	_, o, err := c.Lookup(ctx, app.SourceGroup+"/v1", kind, namespace, name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		s.fails = a.Sources[0].Ref + " does not exist"
		return s
	case err != nil:
		s.unread = err.Error()
		return s
	}
	held, err := app.ParseSource(o.Raw)
	if err != nil {
		s.unread = err.Error()
		return s
	}
	s.url, s.revision, s.suspended, s.fails, s.changes = held.URL, held.Revision, held.Suspension, held.Fails, held.Changes
	if kind == "HelmRepository" {
		// Its revision is that of an index, which no release can be held against.
		s.revision = ""
	}
	return s
}
