package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/report"
)

// mostParents bounds how far owner references are followed: a Pod is four below its
// application.
const mostParents = 8

func traceFacts() []steps.Field {
	return append([]steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "managed", Type: steps.Bool, Doc: "whether an application claims it"},
		{Name: "chain", Type: steps.Strings, Doc: "from the object up: parents, application, what applies that one, source; each with what fails there"},
		{Name: "resource", Type: steps.String, Doc: "plural and group of the application, as gitops/app takes it"},
		{Name: "name", Type: steps.String, Doc: "name of the application"},
		{Name: "namespace", Type: steps.String, Doc: "namespace of the application"},
		{Name: "source", Type: steps.String, Doc: "repository, revision and path"},
		{Name: "applied", Type: steps.Ident, Doc: "revision that was applied last, empty for none"},
		{Name: "link", Type: steps.Enum, Values: app.Links(), Doc: "the first link of the delivery that fails, none where nothing does"},
		{Name: "says", Type: steps.String, Doc: "the controller's own words of that, empty where nothing fails"},
	}, ladderFacts()...)
}

type traceProbe struct{ env steps.Env }

// trail goes up from an object.
type trail struct {
	c     *cluster.Client
	lines []string
	gaps  []string
	seen  []string // UIDs, against a circle of references

	owners []owned // the object and what owns it, from the object up
	claims []claim
}

// owned is an object on the way up.
type owned struct {
	t cluster.Target
	o cluster.Object
}

// claim is an application that a mark names, and that claims the object.
type claim struct {
	t    cluster.Target
	a    app.App
	from manifests.Source
	by   []app.App // what applies the application, from it up
}

// Probe implements steps.Prober.
func (p traceProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, t, err := cluster.Reach(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	obs := steps.Observation{Command: c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml")}
	f := steps.NewFacts(traceFacts())
	o, err := metadataOf(inner, c, t)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return report.Absent(t, obs.Command, f, c.Warnings()), nil
	case err != nil:
		return steps.Observation{}, report.Cause(turned(), err)
	}
	f.Set("exists", steps.BoolOf(true))
	tr := &trail{c: c, lines: []string{t.String()}}
	first, err := tr.up(inner, t, o)
	if err == nil {
		err = turned()
	}
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	obs.Gaps = tr.gaps
	tr.tell(t, first, f, &obs)
	obs.Findings = append(obs.Findings, c.Warnings()...)
	obs.Facts = f.Rest("no application claims the object")
	return obs, nil
}

// metadataOf reads the metadata of an object: marks and references stand there, and a
// Secret keeps its values.
func metadataOf(ctx context.Context, c *cluster.Client, t cluster.Target) (cluster.Object, error) {
	raw, err := c.Read(ctx, t.Path(t.Namespace, t.Name), cluster.AsMetadata, nil)
	if err != nil {
		return cluster.Object{}, err
	}
	return cluster.ParseObject(raw)
}

// up goes from o to the first application that claims it or one of its parents; nil for
// none. What applies that application stands above it in the trail.
func (tr *trail) up(ctx context.Context, t cluster.Target, o cluster.Object) (*claim, error) {
	for range mostParents {
		uid := string(o.GetUID())
		if uid == "" || slices.Contains(tr.seen, uid) {
			return nil, nil
		}
		tr.seen = append(tr.seen, uid)
		tr.owners = append(tr.owners, owned{t, o})
		if of, err := tr.claimed(ctx, t, o); of != nil || err != nil {
			return of, err
		}
		ref := metav1.GetControllerOf(o)
		if ref == nil {
			return nil, nil
		}
		pt, parent, err := tr.c.Lookup(ctx, ref.APIVersion, ref.Kind, t.Namespace, ref.Name)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			tr.gaps = append(tr.gaps, fmt.Sprintf("%s/%s, which owns %s: %v", ref.Kind, steps.Clip(ref.Name, 253), t, err))
			return nil, nil
		case parent.GetUID() != ref.UID:
			tr.gaps = append(tr.gaps, fmt.Sprintf("%s has the name of the owner of %s and another UID", pt, t))
			return nil, nil
		}
		tr.lines = append(tr.lines, pt.String())
		t, o = pt, parent
	}
	return nil, nil
}

// mark names an application as an object does that it applied; without a namespace it is
// in any.
type mark struct {
	apiVersion, kind, namespace, name string
}

// find looks for what a mark names. An error wraps [cluster.ErrAbsent] where it is not here.
func (m mark) find(ctx context.Context, c *cluster.Client) (cluster.Target, cluster.Object, error) {
	if m.namespace != "" {
		return c.Lookup(ctx, m.apiVersion, m.kind, m.namespace, m.name)
	}
	found, err := owner.Applications(ctx, c, "", m.name)
	switch {
	case err != nil:
		return cluster.Target{}, cluster.Object{}, err
	case len(found) == 0:
		return cluster.Target{}, cluster.Object{}, cluster.ErrAbsent
	case len(found) > 1:
		return cluster.Target{}, cluster.Object{}, fmt.Errorf("%d applications have that name", len(found))
	}
	return c.Lookup(ctx, m.apiVersion, m.kind, found[0].GetNamespace(), m.name) // a list shows no object whole
}

// String names it to a person.
func (m mark) String() string {
	return strings.ToLower(m.kind) + " " + steps.Clip(strings.TrimPrefix(m.namespace+"/"+m.name, "/"), 320)
}

// claims reports whether an application lists t among its objects. One that lists nothing
// yet, or never does, is believed.
func claims(a app.App, t cluster.Target) bool {
	return len(a.Resources) == 0 || slices.ContainsFunc(a.Resources, func(r app.Resource) bool {
		return r.Group == t.Group && r.Kind == t.Kind && r.Name == t.Name && (r.Namespace == t.Namespace || t.Namespace == "")
	})
}

// marks reads those of an object. One that is a copy of another object's is none.
func marks(t cluster.Target, o cluster.Object) []mark {
	var out []mark
	if id, err := owner.ParseTracking(o.GetAnnotations()[owner.ArgoTracking]); err == nil && id.Of(t) {
		out = append(out, mark{app.ArgoGroup + "/v1alpha1", "Application", id.AppNamespace, id.App})
	}
	for _, of := range []struct{ group, version, kind string }{{app.KustomizeGroup, "v1", "Kustomization"}, {app.HelmGroup, "v2", "HelmRelease"}} {
		labels := o.GetLabels()
		if name := labels[of.group+"/name"]; name != "" {
			out = append(out, mark{of.group + "/" + of.version, of.kind, cmp.Or(labels[of.group+"/namespace"], o.GetNamespace()), name})
		}
	}
	return out
}

// claimed is the application that the marks of o name, where it is here.
func (tr *trail) claimed(ctx context.Context, t cluster.Target, o cluster.Object) (*claim, error) {
	var out *claim
	for _, m := range marks(t, o) {
		at, found, err := m.find(ctx, tr.c)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			tr.gaps = append(tr.gaps, fmt.Sprintf("%s, which the marks of %s name: %v", m, t, err))
			continue
		}
		a, err := app.Parse(at.Group, at.Kind, found.Raw)
		if err != nil {
			tr.gaps = append(tr.gaps, at.String()+": "+err.Error())
			continue
		}
		if where := a.Elsewhere(tr.c.Server); where != "" {
			tr.gaps = append(tr.gaps, fmt.Sprintf("%s delivers to the cluster %s: the marks of %s were copied, or it was delivered from elsewhere", a, where, t))
			continue
		}
		if !claims(a, t) {
			tr.gaps = append(tr.gaps, fmt.Sprintf("%s does not list %s: the marks may be those of another object", a, t))
			continue
		}
		of := &claim{t: at, a: a, from: manifests.SourceOf(ctx, tr.c, a)}
		if out == nil {
			out = of
		}
		tr.lines = append(tr.lines, lineOf(a))
		if of.by, err = tr.above(ctx, at, found); err != nil {
			return nil, err
		}
		tr.claims = append(tr.claims, *of)
		tr.lines = append(tr.lines, "source "+cmp.Or(of.from.String(), "unknown")+failing(app.LinkSource, of.from.Fails))
	}
	return out, nil
}

// above adds the applications that apply this one: app of apps, a parent Kustomization.
func (tr *trail) above(ctx context.Context, t cluster.Target, o cluster.Object) (by []app.App, err error) {
	for range mostParents {
		tr.seen = append(tr.seen, string(o.GetUID()))
		ms := marks(t, o)
		if len(ms) == 0 {
			return by, nil
		}
		at, parent, err := ms[0].find(ctx, tr.c)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			tr.gaps = append(tr.gaps, fmt.Sprintf("what applies %s: %v", t, err))
			return by, nil
		case slices.Contains(tr.seen, string(parent.GetUID())):
			return by, nil // it applies itself, as bootstrapped Flux does
		}
		a, err := app.Parse(at.Group, at.Kind, parent.Raw)
		if err != nil {
			tr.gaps = append(tr.gaps, at.String()+": "+err.Error())
			return by, nil
		}
		tr.lines = append(tr.lines, lineOf(a))
		by = append(by, a)
		t, o = at, parent
	}
	return by, nil
}

// lineOf is one application of a chain.
func lineOf(a app.App) string {
	say := a.String() + " " + strings.ReplaceAll(string(a.Sync), "_", " ")
	if a.Suspension != nil {
		say += ", suspended " + sinceWhen(a.Suspension)
	}
	return say + failing(a.Link, a.Says)
}

func failing(link app.Link, says string) string {
	if link == app.LinkNone || says == "" {
		return ""
	}
	return fmt.Sprintf(", fails at %s: %s", link, steps.OneLine(says, 300))
}

// ladder is the way down to the object.
func (tr *trail) ladder() ladder {
	var l ladder
	var above []string
	var first *app.App
	for i, of := range tr.claims {
		by := ""
		for _, parent := range slices.Backward(of.by) {
			by = l.application(parent, by)
		}
		above = append(above, l.application(of.a, l.source(of.a, of.from), by))
		if i == 0 {
			first = &of.a
		}
	}
	for _, of := range slices.Backward(tr.owners) {
		above = []string{l.object(of.t, of.o, first, slices.DeleteFunc(above, func(s string) bool { return s == "" })...)}
		first = nil // it speaks of what it applied itself
	}
	return l
}

// tell says what the trail came to.
func (tr *trail) tell(t cluster.Target, first *claim, f steps.Facts, obs *steps.Observation) {
	f.Set("chain", steps.StringsOf(tr.lines))
	tr.ladder().tell(f)
	if first == nil {
		if len(tr.gaps) > 0 {
			f.Unknown(strings.Join(tr.gaps, "; "), "managed", "chain", "way", "from", "what", "states")
			obs.Summary = fmt.Sprintf("What applies %s is not known: %s", t, steps.Clip(tr.gaps[0], 300))
			return
		}
		f.Set("managed", steps.BoolOf(false))
		obs.Summary = fmt.Sprintf("No application claims %s: it was made by hand, or by something that leaves no mark.", t)
		return
	}
	a, from := first.a, first.from
	link, says := a.Link, a.Says
	if from.Fails != "" {
		link, says = app.LinkSource, from.Fails
	}
	f.Set("managed", steps.BoolOf(true))
	f.Set("resource", steps.StringOf(first.t.Resource.String()))
	f.Set("name", steps.StringOf(a.Name))
	f.Set("namespace", steps.StringOf(a.Namespace))
	f.Set("source", steps.StringOf(steps.Clip(from.String(), 1000)))
	f.Set("applied", steps.IdentOf(app.Commit(a.Applied)))
	f.Set("link", steps.EnumOf(string(link)))
	f.Set("says", steps.StringOf(steps.Clip(says, 2000)))
	obs.Summary = fmt.Sprintf("%s is applied by %s from %s", t, a, cmp.Or(from.String(), "an unknown source"))
	if link != app.LinkNone {
		obs.Summary += fmt.Sprintf(", which fails at %s", link)
		obs.Say(steps.Warning, "%s fails at %s: %s", a, link, steps.OneLine(says, 600))
	}
	obs.Summary += "."
}
