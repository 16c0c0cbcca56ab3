package manifests

import (
	"context"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/render"
	"handrail/steps/gitread"
)

// Set is what Git has of an application at a commit.
type Set struct {
	Revision string
	Tool     string // of render
	Objects  []map[string]any

	Version string                 // of a chart
	Varies  map[int]map[string]any // objects, by their place, as another rendering has them
	Unsaid  map[int]string         // why nothing can be said of an object, by its place
}

// Unrendered says why nothing can be rendered of an application, whatever its source holds;
// "" where something may be.
func Unrendered(a app.App, clone string) string {
	switch r := a.Rendering; {
	case len(a.Sources) > 1:
		return "it has several sources, which are not put together here"
	case len(a.Sources) == 0:
		return "it names no source"
	case a.Sources[0].Chart != "":
		return "its chart comes from a repository of charts, and nothing is fetched here"
	case r.Tool == "plugin":
		return "a config management plugin renders it, and plugins are not run here"
	case a.Sources[0].Ref != "" && !strings.HasPrefix(a.Sources[0].Ref, "GitRepository/"):
		return "its source is no Git repository"
	case len(r.Changes) > 0:
		return "its fields " + strings.Join(r.Changes, ", ") + " change what is rendered, and are not followed here"
	case clone == "":
		return "no clone of its repository was named"
	}
	return ""
}

// At makes what an application wants at a commit of a clone, as its source delivers that.
func At(ctx context.Context, env steps.Env, cl *cluster.Client, a app.App, from Source, clone, commit string) (Set, error) {
	if err := from.followed(); err != nil {
		return Set{}, err
	}
	files, err := FilesAt(ctx, env, a, clone, commit)
	if err != nil {
		return Set{}, err
	}
	return Made(ctx, env, cl, a, from, commit, files)
}

// followed says what of a source keeps its commits from being rendered.
func (s Source) followed() error {
	switch {
	case s.Unread != "":
		return fmt.Errorf("what its source leaves out is not known: %s", s.Unread)
	case len(s.Changes) > 0:
		return fmt.Errorf("the fields %s of its source change what is rendered, and are not followed here", strings.Join(s.Changes, ", "))
	}
	return nil
}

// FilesAt are the files of a commit of a clone of which an application is rendered, by paths from the top.
func FilesAt(ctx context.Context, env steps.Env, a app.App, clone, commit string) (map[string][]byte, error) {
	clone = steps.Below(env.Dir, clone)
	c, err := gitread.Open(clone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clone, err)
	}
	files, err := Files(ctx, c, a, commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clone, err)
	}
	return files, nil
}

// Made makes what an application wants of files that stand for those of a commit.
func Made(ctx context.Context, env steps.Env, cl *cluster.Client, a app.App, from Source, commit string, files map[string][]byte) (Set, error) {
	if err := from.followed(); err != nil {
		return Set{}, err
	}
	chart, err := charted(ctx, cl, a, commit, files)
	if err != nil {
		return Set{}, err
	}
	r := a.Rendering
	made, err := render.Render(ctx, env.Self, render.Order{Tool: r.Tool, Path: a.Sources[0].Dir(), Recurse: r.Recurse, Namespace: r.Namespace, Override: r.Override, Packed: a.Controller == app.Flux, Ignore: from.Ignore, Chart: chart}, files)
	if err != nil {
		return Set{}, err
	}
	w := Set{Revision: commit, Tool: made.Tool, Version: made.Version, Varies: made.Varies, Unsaid: made.Unsaid}
	for _, raw := range made.Objects {
		o, err := cluster.ParseObject(raw)
		if err != nil {
			return Set{}, fmt.Errorf("what is rendered cannot be read: %w", err)
		}
		w.Objects = append(w.Objects, o.Object)
	}
	return w, nil
}
