package gitops

import (
	"cmp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
)

// ladderFacts are those that draw the way from Git to what is live.
func ladderFacts() []steps.Field {
	return []steps.Field{
		{Name: "way", Type: steps.Strings, Doc: "what a change passes on its way from Git to what is live, from the top"},
		{Name: "from", Type: steps.Table, Doc: "each of these to what it comes from, with \", \" between"},
		{Name: "what", Type: steps.Table, Doc: "each of these to what is said of it, in the controller's own words where it fails"},
		{Name: "states", Type: steps.Table, Doc: "each of these to fine, fails, held (paused, or being deleted), differs or unknown"},
	}
}

func ladderDrawing() *steps.Drawing {
	return &steps.Drawing{Order: "way", After: "from", What: "what", States: "states", Lines: "chain", Way: true}
}

// rung is one thing that a change passes on its way.
type rung struct {
	name, what, state string
	from              []string
}

// ladder is the way from Git to what is live, from the top.
type ladder []rung

// add puts a rung below all others, and returns its name. One that is there is not put twice, and
// comes from both.
func (l *ladder) add(r rung) string {
	r.name = strings.ReplaceAll(steps.OneLine(r.name, 320), ", ", " ") // which stands between names
	if i := slices.IndexFunc(*l, func(of rung) bool { return of.name == r.name }); i >= 0 {
		for _, name := range r.from {
			if !slices.Contains((*l)[i].from, name) && name != r.name {
				(*l)[i].from = append((*l)[i].from, name)
			}
		}
		return r.name
	}
	*l = append(*l, r)
	return r.name
}

// source puts where an application comes from: the repository, and the path at its revision.
func (l *ladder) source(a app.App, from manifests.Source) (below string) {
	for i, of := range from.Of {
		url := from.URL
		repo := rung{name: strings.Join(strings.Fields("source "+of.Ref+" "+cmp.Or(of.Repo, url)), " "), state: steps.NodeFine}
		if of.Ref == "" && of.Repo == "" && url == "" {
			repo.name = "source of " + a.String()
		}
		switch {
		case from.Fails != "":
			repo.state, repo.what = steps.NodeFails, from.Fails
		case a.Link == app.LinkSource && i == 0:
			repo.state, repo.what = steps.NodeFails, a.Says
		case from.Unread != "":
			repo.state, repo.what = steps.NodeUnsure, from.Unread
		case from.Suspended != nil:
			repo.state, repo.what = steps.NodeHeld, "suspended "+sinceWhen(from.Suspended)
		case from.Revision != "" && a.Controller == app.Flux:
			repo.what = "holds " + from.Revision
		}
		top := l.add(repo)
		at := rung{name: strings.Join(strings.Fields("path "+cmp.Or(of.Chart, of.Dir())+" "+revisionOf(of, a, from)), " "), state: steps.NodeFine, from: []string{top}}
		if a.Link == app.LinkRender {
			at.state, at.what = steps.NodeFails, a.Says
		}
		below = l.add(at)
	}
	return below
}

// revisionOf is which revision of a source is wanted, and which commit that is.
func revisionOf(of app.Source, a app.App, from manifests.Source) string {
	commit := shortRevision(cmp.Or(from.Revision, a.Tried))
	switch {
	case commit == "":
		return of.Revision
	case of.Revision == "" || app.Commit(of.Revision) == app.Commit(cmp.Or(from.Revision, a.Tried)):
		return "at " + commit
	}
	return of.Revision + " at " + commit
}

// application puts an application below what it comes from and what applies it.
func (l *ladder) application(a app.App, from ...string) string {
	r := rung{name: a.String(), state: steps.NodeFine, from: slices.DeleteFunc(from, func(s string) bool { return s == "" })}
	said := []string{strings.ReplaceAll(string(a.Sync), "_", " ")}
	if a.Sync == app.SyncUnknown {
		said[0] = "sync unknown"
	}
	if a.Health != app.HealthUnknown && a.Health != app.Healthy {
		said = append(said, string(a.Health))
	}
	if a.Applied != "" {
		said = append(said, "applied "+shortRevision(a.Applied))
	}
	switch {
	case a.Link == app.LinkSource || a.Link == app.LinkRender: // in words on the rung above
		r.state = steps.NodeFails
		said = append(said, "fails at "+string(a.Link))
	case a.Link != app.LinkNone:
		r.state = steps.NodeFails
		said = append(said, strings.TrimPrefix(failing(a.Link, cmp.Or(a.Says, "its controller gives no reason")), ", "))
	case a.Suspension != nil:
		r.state = steps.NodeHeld
	case a.Sync == app.OutOfSync:
		r.state = steps.NodeDiffers
	case a.Sync == app.SyncUnknown:
		r.state = steps.NodeUnsure
	}
	if a.Suspension != nil {
		said = append(said, "suspended "+sinceWhen(a.Suspension))
	}
	r.what = strings.Join(said, ", ")
	return l.add(r)
}

// object puts one that an application has. o is it as it is live.
func (l *ladder) object(t cluster.Target, o cluster.Object, a *app.App, from ...string) string {
	r := rung{name: t.String(), state: steps.NodeFine, from: from}
	if a != nil {
		r.state, r.what = ofController(*a, t)
	}
	if going := leaving(o); going != "" {
		r.state, r.what = steps.NodeHeld, strings.TrimSuffix(going+"; "+r.what, "; ")
	}
	return l.add(r)
}

// leaving says since when an object is being deleted, and what holds it; "" where it is not.
func leaving(o cluster.Object) string {
	if o.GetDeletionTimestamp() == nil {
		return ""
	}
	held := "no finalizer holds it"
	if all := o.GetFinalizers(); len(all) > 0 {
		held = "held by " + steps.OneLine(strings.Join(all, ", "), 200)
	}
	return "being deleted since " + o.GetDeletionTimestamp().UTC().Format("2006-01-02T15:04:05Z") + ", " + held
}

// ofController is what an application says of one of its objects.
func ofController(a app.App, t cluster.Target) (state, what string) {
	is := func(r app.Resource) bool {
		return r.Group == t.Group && r.Kind == t.Kind && r.Name == t.Name && (r.Namespace == t.Namespace || t.Namespace == "")
	}
	for _, r := range a.Operation.Results {
		if is(r.Resource) && r.Failed() {
			return steps.NodeFails, cmp.Or(steps.OneLine(r.Message, 300), "its last operation failed there")
		}
	}
	for _, r := range a.Resources {
		switch {
		case !is(r):
		case r.Health == app.Degraded || r.Health == app.Missing:
			return steps.NodeFails, strings.TrimSuffix(string(r.Health)+": "+steps.OneLine(r.Says, 300), ": ")
		case r.Prune:
			return steps.NodeDiffers, "no longer wanted, and still there"
		case r.Sync == app.OutOfSync:
			return steps.NodeDiffers, "not as its controller wants it"
		case r.Health == app.Progressing:
			return steps.NodeHeld, strings.TrimSuffix("progressing: "+steps.OneLine(r.Says, 300), ": ")
		}
	}
	return steps.NodeFine, ""
}

// tell sets the facts of the ladder.
func (l ladder) tell(f steps.Facts) {
	order, from, what, states := []string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for _, r := range l {
		order = append(order, r.name)
		from[r.name], what[r.name], states[r.name] = strings.Join(r.from, ", "), steps.OneLine(r.what, 600), r.state
	}
	f.Set("way", steps.StringsOf(order))
	f.Set("from", steps.TableOf(from))
	f.Set("what", steps.TableOf(what))
	f.Set("states", steps.TableOf(states))
}
