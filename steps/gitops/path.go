package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/gitread"
	"handrail/steps/kube/report"
)

const (
	// mostTraced bounds the applications whose objects are read.
	mostTraced = 20
	// mostOpened bounds the applications whose files are looked through for a path beside their own.
	mostOpened = 300
)

func pathParams() []steps.Field {
	return []steps.Field{
		{Name: "path", Type: steps.String, Doc: "file or directory in the repository, from its top; without it all that the named application renders"},
		{Name: "clone", Type: steps.Path, Doc: "a local clone of the repository that has the commits; it is read, and nothing of it runs. Without it what the controllers list stands for what is rendered"},
		{Name: "repository", Type: steps.String, Doc: "URL of the repository or its end, where several have such a path"},
		{Name: "resource", Type: steps.String, Pattern: cluster.ResourceName, Default: applications + "." + app.ArgoGroup, Doc: "resource of the application that is named"},
		{Name: "name", Type: steps.String, Pattern: cluster.ObjectName, Doc: "only this application"},
		{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "its namespace, instead of that of the context"},
	}
}

func pathFacts() []steps.Field {
	return append([]steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether an application renders it"},
		{Name: "applications", Type: steps.Table, Doc: "each application that renders it, with how it stands"},
		{Name: "objects", Type: steps.Table, Doc: "each object that comes of it, with how it stands live"},
		{Name: "whole", Type: steps.Bool, Doc: "whether these are all objects of the applications; false where the files at the path name those that they make"},
		{Name: "absent", Type: steps.Strings, Doc: "objects that are wanted and not there"},
		{Name: "differs", Type: steps.Strings, Doc: "objects that are there and not as wanted"},
		{Name: "unhealthy", Type: steps.Strings, Doc: "objects at which an operation failed, or that say themselves what is wrong"},
		{Name: "terminating", Type: steps.Strings, Doc: "objects that are being deleted"},
		{Name: "chain", Type: steps.Strings, Doc: "from the source down: path, applications, objects; each with what fails there"},
		{Name: "link", Type: steps.Enum, Values: app.Links(), Doc: "the first link of the delivery that fails, none where no controller says so"},
		{Name: "says", Type: steps.String, Doc: "the controller's own words of that, empty where nothing fails"},
	}, ladderFacts()...)
}

type pathProbe struct{ env steps.Env }

// descent is one reading from a path in Git down.
type descent struct {
	env   steps.Env
	c     *cluster.Client
	out   steps.Sink
	path  string // clean, "" for all of an application
	clone string
	git   gitread.Clone
	f     steps.Facts
	obs   steps.Observation

	found []fallen
	whole bool
	miss  string // why not all applications are known, "" where they are
}

// fallen is an application that renders the path, and what comes of it.
type fallen struct {
	a      app.App
	from   manifests.Source
	beside bool // it takes the path in from outside of its own directory
	stands []standing
	more   int // objects that come of other files of it
}

// Probe implements steps.Prober.
func (p pathProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	r := &descent{env: p.env, out: out, clone: in.Text("clone"), f: steps.NewFacts(pathFacts())}
	if text := in.Text("path"); text != "" {
		r.path = path.Clean(strings.TrimPrefix(path.Clean("/"+text), "/"))
	} else if in.Text("name") == "" {
		return steps.Observation{}, errors.New("name a path in the repository, or an application")
	}
	if r.clone != "" {
		var err error
		if r.git, err = gitread.Open(steps.Below(p.env.Dir, r.clone)); err != nil {
			return steps.Observation{}, fmt.Errorf("%s: %w", r.clone, err)
		}
	}
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	err := r.read(inner, in)
	if err == nil {
		err = turned()
	}
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r.tell()
	r.obs.Findings = append(r.obs.Findings, r.c.Warnings()...)
	r.obs.Facts = r.f.Rest(cmp.Or(r.miss, "no application renders it"))
	return r.obs, nil
}

// read finds the applications, and reads what comes of each.
func (r *descent) read(ctx context.Context, in steps.Params) error {
	var err error
	if r.c, err = cluster.Connect(r.env, r.out); err != nil {
		return err
	}
	r.obs.Command = r.c.Kubectl("", "get", "applications.argoproj.io,kustomizations,helmreleases", "-A", "-o", "wide")
	of := []cluster.Target{}
	if in.Text("name") != "" {
		t, err := r.c.Target(ctx, in)
		if err != nil {
			return err
		}
		r.obs.Command = r.c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml")
		of = append(of, t)
	} else if of, err = r.renderers(ctx, in.Text("repository")); err != nil {
		return err
	}
	if n := len(of) - mostTraced; n > 0 {
		r.obs.Gaps = append(r.obs.Gaps, fmt.Sprintf("%d more applications render it, whose objects are not read", n))
		r.miss = cmp.Or(r.miss, fmt.Sprintf("%d applications render it, and the objects of %d are read", len(of), mostTraced))
		of = of[:mostTraced]
	}
	for _, t := range of {
		if err := r.descend(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// renderers are the applications that render the path, in the order of their sources.
func (r *descent) renderers(ctx context.Context, repository string) ([]cluster.Target, error) {
	l := &ledger{sources: map[string]app.Held{}}
	if err := l.read(ctx, r.c); err != nil {
		return nil, err
	}
	if len(l.gaps) > 0 {
		r.miss = "not all applications are known: " + strings.Join(l.gaps, "; ")
		r.obs.Gaps = append(r.obs.Gaps, l.gaps...)
	}
	type hit struct {
		a  app.App
		at string
	}
	var hits []hit
	var unknown []string
	opened, here := map[string]bool{}, map[string]bool{}
	cloned, elsewhere := map[string]bool{}, []string{} // URLs of those whose commit the clone has, and has not
	slices.SortFunc(l.apps, func(a, b app.App) int { return strings.Compare(a.String(), b.String()) })
	for _, a := range l.apps {
		var from manifests.Source
		from.Of = a.Sources
		if a.Controller == app.ArgoCD {
			from.Revision = a.Tried
		} else if len(a.Sources) > 0 {
			held := l.sources[a.Sources[0].Ref]
			from.URL, from.Revision = held.URL, held.Revision
		}
		at, is := r.place(a, from, repository)
		if !is {
			continue
		}
		commit := app.Commit(cmp.Or(from.Revision, a.Tried, a.Applied))
		if r.clone != "" && len(a.Sources) == 1 && a.Sources[0].Chart == "" {
			if _, asked := here[commit]; !asked {
				_, err := r.git.Commit(ctx, commit)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				here[commit] = err == nil
			}
			url := bareURL(cmp.Or(a.Sources[0].Repo, from.URL))
			if !here[commit] {
				elsewhere = append(elsewhere, url)
				continue
			}
			cloned[url] = true
		}
		if !slices.ContainsFunc(manifests.Beside(a), r.related) {
			if r.clone == "" || len(a.Sources) != 1 || a.Sources[0].Chart != "" {
				continue
			}
			takes, err := r.takes(ctx, a, commit, opened)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				unknown = append(unknown, a.String()+": "+steps.OneLine(err.Error(), 200))
				continue
			case !takes:
				continue
			}
		}
		hits = append(hits, hit{a, at})
	}
	if n := len(unknown); n > 0 {
		r.obs.Gaps = append(r.obs.Gaps, fmt.Sprintf("whether %d more applications take it in is not known, such as %s", n, unknown[0]))
		r.miss = cmp.Or(r.miss, "whether an application takes it in is not known: "+unknown[0])
	}
	// An application of another repository renders nothing of this one.
	if elsewhere = slices.DeleteFunc(elsewhere, func(url string) bool { return len(cloned) > 0 && !cloned[url] }); len(elsewhere) > 0 {
		r.miss = cmp.Or(r.miss, fmt.Sprintf("%d applications hold a commit that the clone has not, such as one of %s: fetch, or name the clone of their repository", len(elsewhere), report.OrNothing(elsewhere[0])))
		r.obs.Gaps = append(r.obs.Gaps, r.miss)
	}
	if r.clone == "" {
		r.obs.Gaps = append(r.obs.Gaps, "applications that take the path in from outside of their own directory are found in a clone alone")
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return strings.Compare(a.at, b.at) })
	var out []cluster.Target
	for _, h := range hits {
		kind, err := r.c.AnyVersion(groupOf(h.a)+"/v1", h.a.Kind)
		if err != nil {
			return nil, err
		}
		out = append(out, cluster.Target{Resource: kind, Namespace: h.a.Namespace, Name: h.a.Name})
	}
	return out, nil
}

func groupOf(a app.App) string {
	return map[string]string{"Application": app.ArgoGroup, "Kustomization": app.KustomizeGroup, "HelmRelease": app.HelmGroup}[a.Kind]
}

// place is where the source of an application is, by which those of one source stand together.
func (r *descent) place(a app.App, from manifests.Source, repository string) (at string, is bool) {
	for _, of := range a.Sources {
		url := cmp.Or(of.Repo, from.URL)
		at = strings.Join([]string{at, url, of.Ref, of.Path}, " ")
		is = is || repository == "" || strings.HasSuffix(bareURL(url), bareURL(repository))
	}
	return at, is
}

func bareURL(url string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(url), "/"), ".git")
}

// related reports whether a place of an application is at, above or below the path.
func (r *descent) related(place string) bool {
	return manifests.Within(r.path, place) || manifests.Within(place, r.path)
}

// takes reports whether an application takes in the path from outside of its directory. opened has the
// answers by commit and directory.
func (r *descent) takes(ctx context.Context, a app.App, commit string, opened map[string]bool) (bool, error) {
	key := commit + " " + strings.Join(manifests.Beside(a), " ")
	if takes, has := opened[key]; has {
		return takes, nil
	}
	if len(opened) == mostOpened {
		return false, fmt.Errorf("the files of %d directories were looked through", mostOpened)
	}
	files, err := manifests.Files(ctx, r.git, a, commit)
	if err != nil && !errors.Is(err, gitread.ErrNoFile) {
		return false, err
	}
	opened[key] = false
	for name := range files {
		opened[key] = opened[key] || manifests.Within(name, r.path)
	}
	return opened[key], nil
}

// descend reads one application, and how each object stands that comes of the path.
func (r *descent) descend(ctx context.Context, t cluster.Target) error {
	o, err := r.c.Get(ctx, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		r.obs.Gaps = append(r.obs.Gaps, t.String()+" is not there")
		return nil
	case err != nil:
		return err
	}
	a, err := app.Parse(t.Group, t.Kind, o.Raw)
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	run := &desiredRun{env: r.env, c: r.c, a: a, clone: r.clone, out: r.out, f: steps.NewFacts(desiredFacts()), sides: map[string]*side3{}}
	if err := run.read(ctx); err != nil {
		return err
	}
	of := fallen{a: a, from: manifests.SourceOf(ctx, r.c, a)}
	r.obs.Gaps = append(r.obs.Gaps, run.obs.Gaps...)
	if run.why != "" {
		r.obs.Say(steps.Info, "What Git has of %s is not rendered here: %s. What its controller applied last stands for it.", a, report.Ended(run.why))
	}
	only, whole, err := r.makes(ctx, a, run)
	if err != nil {
		return err
	}
	of.beside = r.path != "" && !slices.ContainsFunc(manifests.Beside(a), r.related)
	r.whole = r.whole || whole
	for _, name := range slices.Sorted(maps.Keys(run.sides)) {
		s := run.sides[name]
		if !whole && !only(s.of) {
			of.more++
			continue
		}
		of.stands = append(of.stands, standingOf(a, s))
	}
	r.found = append(r.found, of)
	return nil
}

// makes tells the objects of an application that come of the path, where its files name them.
func (r *descent) makes(ctx context.Context, a app.App, run *desiredRun) (only func(app.Resource) bool, whole bool, err error) {
	if r.path == "" || run.why != "" || manifests.Within(a.Sources[0].Dir(), r.path) {
		return nil, true, nil
	}
	files, err := manifests.Files(ctx, r.git, a, run.wanted.Revision)
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, err
		}
		return nil, true, nil
	}
	named, whole := manifests.NamedIn(files, r.path)
	if whole {
		return nil, true, nil
	}
	fits := func(of app.Resource, exact bool) bool {
		return slices.ContainsFunc(named, func(n manifests.Named) bool {
			return n.Group == of.Group && n.Kind == of.Kind && (n.Name == of.Name || !exact && strings.Contains(of.Name, n.Name))
		})
	}
	exact, loose := 0, 0
	for _, s := range run.sides {
		if fits(s.of, true) {
			exact++
		}
		if fits(s.of, false) {
			loose++
		}
	}
	if loose == 0 { // they are renamed, or patches of what is named otherwise
		return nil, true, nil
	}
	return func(of app.Resource) bool { return fits(of, exact >= len(named)) }, false, nil
}
