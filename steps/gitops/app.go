package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/report"
)

// carriedOver is why what an operation did to each object is not known.
const carriedOver = "the results that Argo CD keeps may be of the operation before"

// mostListed bounds a list in a fact.
const mostListed = 500

func appFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the application is there"},
		{Name: "uid", Type: steps.Ident, Doc: "UID of the application"},
		{Name: "controller", Type: steps.Enum, Values: []string{string(app.ArgoCD), string(app.Flux)}, Doc: "who reconciles it"},
		{Name: "sync", Type: steps.Enum, Values: []string{string(app.Synced), string(app.OutOfSync)}, Doc: "whether what is live is what is wanted, as its controller compares it; Flux does so at its interval alone"},
		{Name: "health", Type: steps.Enum, Values: []string{string(app.Healthy), string(app.Progressing), string(app.Degraded), string(app.Suspended), string(app.Missing)}, Doc: "what its controller says of the objects that it applied"},
		{Name: "phase", Type: steps.Enum, Values: []string{string(app.NoOperation), string(app.Running), string(app.Terminating), string(app.Succeeded), string(app.Failed), string(app.Stalled)}, Doc: "of the operation that runs, else of the last one; stalled is not tried again by itself"},
		{Name: "link", Type: steps.Enum, Values: app.Links(), Doc: "the first link of the delivery that fails, none where nothing does"},
		{Name: "says", Type: steps.String, Doc: "the controller's own words of that, empty where nothing fails"},
		{Name: "wrote", Type: steps.Bool, Doc: "whether the last operation changed anything; Flux keeps no results of an apply that failed"},
		{Name: "done", Type: steps.Int, Doc: "objects that the last operation applied or removed; unknown for Flux"},
		{Name: "of", Type: steps.Int, Doc: "objects that the last operation speaks of; unknown for Flux"},
		{Name: "failed", Type: steps.Strings, Doc: "objects that the last operation failed at, each with the message; unknown for Flux"},
		{Name: "failing_resource", Type: steps.String, Doc: "resource of the first object at which it fails, empty where none can be named"},
		{Name: "failing_name", Type: steps.String, Doc: "its name"},
		{Name: "failing_namespace", Type: steps.String, Doc: "its namespace, empty for an object of the cluster"},
		{Name: "hook", Type: steps.Bool, Doc: "whether the last operation began a hook, or failed at one, however the rest of it ended; unknown for a HelmRelease that does not fail at one, which does not list its hooks"},
		{Name: "hooks", Type: steps.Strings, Doc: "the hooks that the last operation began, each with when it runs and how it ended; unknown for Flux"},
		{Name: "differing", Type: steps.Strings, Doc: "objects that are not as wanted; unknown for Flux, which does not list them"},
		{Name: "pruned", Type: steps.Strings, Doc: "objects that are no longer wanted and still there; unknown for Flux"},
		{Name: "objects", Type: steps.Int, Doc: "objects that it has"},
		{Name: "elsewhere", Type: steps.String, Doc: "the cluster that its objects are in, empty where that is this one: they are not read here then"},
		{Name: "applied", Type: steps.Ident, Doc: "revision that the live state was last brought to, empty for none"},
		{Name: "tried", Type: steps.Ident, Doc: "revision of the last comparison or attempt, empty for none"},
		{Name: "source", Type: steps.String, Doc: "where the wanted state comes from: repository, revision and path"},
		{Name: "source_revision", Type: steps.Ident, Doc: "newest revision that the source of Flux holds; of Argo CD the one that it compares with"},
		{Name: "short", Type: steps.String, Doc: "the part of source_revision that people say, and type at a gate"},
		{Name: "waiting", Type: steps.Bool, Doc: "whether the source holds another revision than the applied one"},
		{Name: "auto_sync", Type: steps.Bool, Doc: "whether a new revision is applied without a person"},
		{Name: "self_heal", Type: steps.Bool, Doc: "whether a change by hand is written over without a new revision"},
		{Name: "prune", Type: steps.Bool, Doc: "whether what is no longer wanted is deleted"},
		{Name: "suspended", Type: steps.Bool, Doc: "whether its controller leaves it alone though it would act by itself otherwise"},
		{Name: "suspended_by", Type: steps.String, Doc: "field manager that suspended it, empty where managedFields do not say"},
		{Name: "suspended_for", Type: steps.Duration, Ages: true, Doc: "since when, at least: a lower bound where managedFields do not say"},
		{Name: "by", Type: steps.String, Doc: "who began the last operation, empty for the controller itself or where nothing says so"},
		{Name: "began", Type: steps.Time, Doc: "when the last operation began"},
		{Name: "checked", Type: steps.Duration, Ages: true, Doc: "since when it was last reconciled: a long time is a controller that does not work"},
		{Name: "retries", Type: steps.Int, Doc: "how often the last operation was tried again"},
		{Name: "parents", Type: steps.Strings, Doc: "what writes the application itself and would undo a change of it, with whether each is paused"},
	}
}

type appProbe struct{ env steps.Env }

// appRun fills in an observation about one application.
type appRun struct {
	c    *cluster.Client
	t    cluster.Target
	a    app.App
	f    steps.Facts
	obs  steps.Observation
	from manifests.Source

	unwritten string // why it is not known whether the operation wrote anything
}

// Probe implements steps.Prober.
func (p appProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, t, err := cluster.Reach(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r := &appRun{c: c, t: t, f: steps.NewFacts(appFacts())}
	r.obs.Command = c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml", "--show-managed-fields")
	o, err := c.Get(inner, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return report.Absent(t, r.obs.Command, r.f, c.Warnings()), nil
	case err != nil:
		return steps.Observation{}, report.Cause(turned(), err)
	}
	if r.a, err = app.Parse(t.Group, t.Kind, o.Raw); err != nil {
		return steps.Observation{}, fmt.Errorf("%s: %w", t, err)
	}
	if gap := steps.Keep(out, "application", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(o.Raw); return err }); gap != "" {
		r.obs.Gaps = append(r.obs.Gaps, gap)
	}
	r.from = manifests.SourceOf(inner, c, r.a)
	if len(r.a.Operation.Earlier) > 0 {
		r.a.Operation.Wrote, r.unwritten = wroteSince(inner, c, r.a)
	}
	if err := r.parents(inner, o); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r.state()
	r.operation()
	r.delivery()
	r.policy()
	r.findings()
	r.obs.Summary = summary(r.a, r.from)
	r.obs.Findings = append(r.obs.Findings, c.Warnings()...)
	r.obs.Facts = r.f.Rest("the application does not say")
	return r.obs, nil
}

// state is what the controller says of it now.
func (r *appRun) state() {
	f := r.f
	f.Set("exists", steps.BoolOf(true))
	f.Set("uid", steps.IdentOf(r.a.UID))
	f.Set("controller", steps.EnumOf(string(r.a.Controller)))
	known := func(name, value, unknown string) {
		if value == unknown {
			f.Unknown("its controller does not say", name)
			return
		}
		f.Set(name, steps.EnumOf(value))
	}
	known("sync", string(r.a.Sync), string(app.SyncUnknown))
	known("health", string(r.a.Health), string(app.HealthUnknown))
	link, says := r.link()
	f.Set("link", steps.EnumOf(string(link)))
	f.Set("says", steps.StringOf(steps.Clip(says, 2000)))
	f.Set("objects", steps.IntOf(int64(len(r.a.Resources))))
	f.Set("elsewhere", steps.StringOf(r.a.Elsewhere(r.c.Server)))
	checked := r.a.Checked
	if r.a.Worked.After(checked) {
		checked = r.a.Worked
	}
	r.ages("checked", checked)
}

// link is the first link that fails; a source that fails is above all others.
func (r *appRun) link() (app.Link, string) {
	if r.from.Fails != "" {
		return app.LinkSource, r.from.Fails
	}
	return r.a.Link, r.a.Says
}

// operation is what it did last.
func (r *appRun) operation() {
	op, f := r.a.Operation, r.f
	r.failing()
	r.hooks()
	f.Set("phase", steps.EnumOf(string(op.Phase)))
	f.Set("by", steps.StringOf(steps.Clip(op.By, 200)))
	f.Set("retries", steps.IntOf(op.Retries))
	if !op.Began.IsZero() {
		f.Set("began", steps.TimeOf(op.Began))
	}
	switch op.Wrote {
	case app.Yes, app.No:
		f.Set("wrote", steps.BoolOf(op.Wrote == app.Yes))
	default:
		f.Unknown(cmp.Or(r.unwritten, "the controller keeps no result by which it could be told"), "wrote")
	}
	if r.a.Controller == app.Flux {
		f.Unknown("Flux keeps no results by object", "done", "of", "failed", "differing", "pruned")
		return
	}
	if done, of := op.Applied(); len(op.Earlier) == 0 {
		f.Set("done", steps.IntOf(int64(done)))
		f.Set("of", steps.IntOf(int64(of)))
	} else {
		f.Unknown(carriedOver, "done", "of")
	}
	var failed, differing, pruned []string
	for _, res := range op.Results {
		if res.Failed() {
			failed = append(failed, res.String()+": "+steps.OneLine(res.Message, 400))
		}
	}
	for _, res := range r.a.Differing() {
		if res.Prune {
			pruned = append(pruned, res.String())
		} else {
			differing = append(differing, res.String())
		}
	}
	r.list("failed", failed)
	if r.a.Sync == app.SyncUnknown {
		f.Unknown("Argo CD could not compare it: "+steps.OneLine(r.a.Says, 300), "differing", "pruned")
		return
	}
	r.list("differing", differing)
	r.list("pruned", pruned)
}

// failing names the first object at which it fails.
func (r *appRun) failing() {
	of, _ := r.a.Failing()
	if where := r.a.Elsewhere(r.c.Server); where != "" && of.Name != "" {
		r.f.Unknown(inOther(where), "failing_resource", "failing_name", "failing_namespace")
		return
	}
	resource := strings.ToLower(of.Kind)
	if of.Group != "" {
		resource += "." + of.Group
	}
	r.f.Set("failing_resource", steps.StringOf(resource))
	r.f.Set("failing_name", steps.StringOf(of.Name))
	r.f.Set("failing_namespace", steps.StringOf(of.Namespace))
}

// hooks are what the last operation ran beside the objects that it applied: they run again at the next one.
func (r *appRun) hooks() {
	var all []string
	for _, h := range r.a.Hooks() {
		all = append(all, fmt.Sprintf("%s (%s): %s", h, h.Hook, h.HookEnd))
	}
	if slices.ContainsFunc(r.a.Operation.Earlier, func(h app.Result) bool { return h.Hook != "" }) {
		r.f.Unknown(carriedOver, "hook", "hooks")
		return
	}
	switch {
	case len(all) > 0 || r.a.Link == app.LinkHook:
		r.f.Set("hook", steps.BoolOf(true))
	case r.a.Kind == "HelmRelease":
		r.f.Unknown("a release runs the hooks of its chart, which it does not list", "hook")
	default:
		r.f.Set("hook", steps.BoolOf(false))
	}
	if r.a.Controller == app.Flux {
		r.f.Unknown("Flux keeps no results by object", "hooks")
		return
	}
	r.list("hooks", all)
}

// list sets a list as a whole, or not at all: a part of it would read as all of it.
func (r *appRun) list(name string, of []string) {
	if len(of) > mostListed {
		r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d; the artifact has all", len(of), mostListed), name)
		return
	}
	r.f.Set(name, steps.StringsOf(of))
}

// delivery is where the wanted state comes from, and how far it came.
func (r *appRun) delivery() {
	f := r.f
	f.Set("applied", steps.IdentOf(app.Commit(r.a.Applied)))
	f.Set("tried", steps.IdentOf(app.Commit(r.a.Tried)))
	f.Set("source", steps.StringOf(steps.Clip(r.from.String(), 1000)))
	switch {
	case r.from.Unread != "":
		f.Unknown(r.from.Unread, "source_revision", "short", "waiting")
	case r.from.Revision == "":
		f.Unknown("the source holds no revision", "source_revision", "short", "waiting")
	default:
		f.Set("source_revision", steps.IdentOf(app.Commit(r.from.Revision)))
		f.Set("short", steps.StringOf(shortRevision(r.from.Revision)))
		f.Set("waiting", steps.BoolOf(r.a.Applied != "" && app.Commit(r.from.Revision) != app.Commit(r.a.Applied)))
	}
}

// policy is when it acts by itself.
func (r *appRun) policy() {
	f, s := r.f, r.a.Suspension
	f.Set("auto_sync", steps.BoolOf(r.a.AutoSync))
	f.Set("self_heal", steps.BoolOf(r.a.SelfHeal))
	f.Set("prune", steps.BoolOf(r.a.Prune))
	f.Set("suspended", steps.BoolOf(s != nil))
	if s == nil {
		f.Unknown("it is not suspended", "suspended_by", "suspended_for")
		return
	}
	f.Set("suspended_by", steps.StringOf(steps.Clip(s.By, 200)))
	r.ages("suspended_for", s.Since)
}

// ages sets how long ago something was, by the clock of the server.
func (r *appRun) ages(name string, since time.Time) {
	now, why := r.c.Now()
	switch {
	case since.IsZero():
		r.f.Unknown("the object does not say when", name)
	case why != "":
		r.f.Unknown(why, name)
	case since.After(now.Add(cluster.SkewTolerance)):
		r.f.Unknown("the time that the object gives is in the future", name)
	default:
		r.f.Set(name, steps.DurationOf(max(0, now.Sub(since))))
	}
}

// parents are those that write the application itself.
func (r *appRun) parents(ctx context.Context, o cluster.Object) error {
	w, err := owner.Resolve(ctx, r.c, r.t, o)
	if err != nil {
		return err
	}
	var all []string
	for _, of := range w.Owners {
		all = append(all, of.Name+" (paused: "+of.Paused+")")
	}
	r.obs.Gaps = append(r.obs.Gaps, w.Gaps...)
	if len(w.Doubts) > 0 && len(all) == 0 {
		r.f.Unknown(strings.Join(w.Doubts, "; "), "parents")
		return nil
	}
	r.f.Set("parents", steps.StringsOf(all))
	for _, of := range w.Owners {
		if of.Paused != owner.PausedYes {
			r.obs.Say(steps.Info, "%s is applied by %s: a change of it by hand, a pause too, may be undone from there.", r.a, of.Name)
		}
	}
	return nil
}

// findings are what is worth an eye.
func (r *appRun) findings() {
	say := r.obs.Say
	if link, says := r.link(); link != app.LinkNone {
		say(steps.Warning, "It fails at: %s. %s", link, steps.OneLine(says, 600))
	}
	if where := r.a.Elsewhere(r.c.Server); where != "" {
		say(steps.Warning, "It delivers to the cluster %s. Its objects are not read here, and what has their names in this cluster is something else.", where)
	}
	if r.a.Behind {
		say(steps.Warning, "Its controller has not seen its newest spec yet: what it says is about the one before.")
	}
	if s := r.a.Suspension; s != nil {
		say(steps.Warning, "It is suspended (%s), %s.", s.How, sinceWhen(s))
	}
	if n := len(r.a.Differing()); n > 0 && !r.a.AutoSync {
		say(steps.Info, "%d of its %d objects differ, and nothing applies them by itself: compare before you sync, the live side may be the right one.", n, len(r.a.Resources))
	}
}

// sinceWhen says since when something is suspended, and by whom.
func sinceWhen(s *app.Suspension) string {
	by := "by whom is not recorded"
	if s.By != "" {
		by = "by " + steps.Clip(s.By, 128)
	}
	if note := s.Note.String(); note != "" {
		by += " " + note
	}
	switch {
	case s.Since.IsZero():
		return "since when is not recorded, " + by
	case s.AtLeast:
		return "at least since " + s.Since.UTC().Format(time.RFC3339) + ", " + by
	}
	return "since " + s.Since.UTC().Format(time.RFC3339) + ", " + by
}

// summary is the line for the call.
func summary(a app.App, from manifests.Source) string {
	say := fmt.Sprintf("%s: %s, health %s", a, strings.ReplaceAll(string(a.Sync), "_", " "), a.Health)
	link, _ := a.Link, a.Says
	if from.Fails != "" {
		link = app.LinkSource
	}
	switch {
	case link != app.LinkNone:
		say += fmt.Sprintf(", fails at %s", link)
	case a.Operation.Phase == app.Running:
		say += ", an operation runs"
	}
	if a.Suspension != nil {
		say += ", suspended"
	}
	if a.Applied != "" {
		say += ", at " + steps.Clip(shortRevision(a.Applied), 80)
	}
	return say + "."
}

// shortRevision is a commit as people say it.
func shortRevision(revision string) string {
	commit := app.Commit(revision)
	if len(commit) == 40 || len(commit) == 64 {
		return commit[:8]
	}
	return commit
}
