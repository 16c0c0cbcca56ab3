package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/gitops/render"
	"handrail/steps/kube/report"
)

// moved are the values of the fact of that name.
var moved = []string{"none", movedLive, movedGit, movedBoth, movedOpen}

func desiredParams() []steps.Field {
	return cluster.ObjectParams(
		steps.Field{Name: "clone", Type: steps.Path, Doc: "a local clone of its repository that has the commit; it is read, and nothing of it runs. Without it the controller's own record stands for what Git has"},
	)
}

func desiredFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the application is there"},
		{Name: "controller", Type: steps.Enum, Values: []string{string(app.ArgoCD), string(app.Flux)}, Doc: "who reconciles it"},
		{Name: "rendered", Type: steps.Bool, Doc: "whether what Git has was rendered here; else the controller's own record stands for it"},
		{Name: "unrendered", Type: steps.String, Doc: "why it was not rendered, empty where it was"},
		{Name: "revision", Type: steps.Ident, Doc: "commit that was rendered"},
		{Name: "objects", Type: steps.Int, Doc: "objects that are wanted, hooks left out"},
		{Name: "varies", Type: steps.Strings, Doc: "fields of a chart that come out otherwise at each rendering, by chance or the clock: what was applied last stands for them"},
		{Name: "hooks", Type: steps.Strings, Doc: "hooks that are wanted: a sync of Argo CD runs them"},
		{Name: "hooks_same", Type: steps.Strings, Doc: "those of them that are live as Git has them: a sync runs again what ran"},
		{Name: "encrypted", Type: steps.Strings, Doc: "objects that Git holds encrypted: the controller's own record stands for them"},
		{Name: "state", Type: steps.Table, Doc: "each object that is wanted or was applied, and where it stands"},
		{Name: "moved", Type: steps.Enum, Values: moved, Doc: "which side moved since it was applied last: live, git, both, or open where what was applied last is not known"},
		{Name: "live_moved", Type: steps.Strings, Doc: "what Git has as it was applied, and the live side has otherwise"},
		{Name: "live_fields", Type: steps.Strings, Doc: "the object and the field of each of these, as a person can name them"},
		{Name: "git_moved", Type: steps.Strings, Doc: "what is live as it was applied, and Git has otherwise"},
		{Name: "unclear", Type: steps.Strings, Doc: "what differs on all three sides, or where what was applied last is not known"},
		{Name: "missing", Type: steps.Strings, Doc: "objects that are wanted and not there"},
		{Name: "surplus", Type: steps.Strings, Doc: "objects that were applied and are no longer wanted, and still there"},
		{Name: "wanted", Type: steps.Ident, Doc: "digest of the fields that are wanted or were applied, as Git has them"},
		{Name: "recorded", Type: steps.Ident, Doc: "digest of the same fields as they were applied last"},
		{Name: "actual", Type: steps.Ident, Doc: "digest of the same fields as they are live"},
	}
}

type desiredProbe struct{ env steps.Env }

// desiredRun is one reading.
type desiredRun struct {
	env   steps.Env
	c     *cluster.Client
	a     app.App
	clone string
	out   steps.Sink
	keeps bool // what is rendered becomes an artifact
	f     steps.Facts
	obs   steps.Observation

	exists bool

	from      manifests.Source
	why       string // why nothing was rendered
	wanted    manifests.Set
	sides     map[string]*side3 // by name
	encrypted []string
	release   map[string]map[string]any // what Helm's record has, by name; nil where there is none
	hooks     []int                     // places among what is wanted of what is run and not kept
}

// Probe implements steps.Prober.
func (p desiredProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	r, t, err := sidesOf(inner, p.env, in, out, true)
	if err == nil {
		err = turned()
	}
	switch {
	case err != nil:
		return steps.Observation{}, report.Cause(turned(), err)
	case !r.exists:
		return report.Absent(t, r.obs.Command, r.f, r.c.Warnings()), nil
	}
	r.tell()
	r.obs.Findings = append(r.obs.Findings, r.c.Warnings()...)
	r.obs.Facts = r.f.Rest("not read")
	return r.obs, nil
}

// sidesOf reads the application that the parameters name, and the sides of its objects. keeps says that what is rendered becomes
// an artifact.
func sidesOf(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink, keeps bool) (*desiredRun, cluster.Target, error) {
	c, t, err := cluster.Reach(ctx, env, in, out)
	if err != nil {
		return nil, t, err
	}
	r := &desiredRun{env: env, c: c, clone: in.Text("clone"), out: out, keeps: keeps, f: steps.NewFacts(desiredFacts()), sides: map[string]*side3{}}
	r.obs.Command = c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml")
	o, err := c.Get(ctx, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return r, t, nil
	case err != nil:
		return nil, t, err
	}
	if r.a, err = app.Parse(t.Group, t.Kind, o.Raw); err != nil {
		return nil, t, fmt.Errorf("%s: %w", t, err)
	}
	r.exists = true
	r.f.Set("exists", steps.BoolOf(true))
	r.f.Set("controller", steps.EnumOf(string(r.a.Controller)))
	return r, t, r.read(ctx)
}

// read gathers the three sides of each object.
func (r *desiredRun) read(ctx context.Context) error {
	if err := r.releaseRecord(ctx); err != nil {
		return err
	}
	if err := r.render(ctx); err != nil {
		return err
	}
	if err := r.actual(ctx); err != nil {
		return err
	}
	if r.why == "" {
		if err := r.asRan(ctx); err != nil {
			return err
		}
	}
	return r.recorded(ctx)
}

// render makes what Git has, or says why it is not made.
func (r *desiredRun) render(ctx context.Context) error {
	r.from = manifests.SourceOf(ctx, r.c, r.a)
	from := r.from
	commit := app.Commit(from.Revision)
	r.why = manifests.Unrendered(r.a, r.clone)
	switch {
	case r.why != "":
	case r.a.Rendering.Chart != nil && r.a.Elsewhere(r.c.Server) != "":
		r.why = "a chart asks the cluster that it is for, " + r.a.Cluster + ", which is not read here"
	case from.Unread != "":
		r.why = "which revision its source holds is not known: " + from.Unread
	case from.Fails != "" && commit == "":
		r.why = "its source cannot be had: " + steps.OneLine(from.Fails, 300)
	case len(commit) != 40:
		r.why = fmt.Sprintf("its source holds %s, which is no commit", report.OrNothing(steps.Clip(commit, 100)))
	}
	if r.why == "" {
		var err error
		if r.wanted, err = manifests.At(ctx, r.env, r.c, r.a, from, r.clone, commit); err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			r.why = steps.OneLine(err.Error(), 600)
		}
	}
	r.f.Set("rendered", steps.BoolOf(r.why == ""))
	r.f.Set("unrendered", steps.StringOf(r.why))
	if r.why != "" {
		r.f.Unknown(r.why, "revision", "hooks", "hooks_same")
		r.obs.Say(steps.Warning, "What Git has is not rendered here: %s. What the controller applied last stands for it, which may be another revision.", report.Ended(r.why))
		r.inventory()
		return nil
	}
	r.f.Set("revision", steps.IdentOf(commit))
	r.obs.Command = r.c.Kubectl(r.a.Namespace, "diff", map[bool]string{true: "-f", false: "-k"}[r.wanted.Tool == "directory"], r.clone+"/"+r.a.Sources[0].Dir())
	if r.wanted.Tool == render.Helm {
		r.obs.Command = "helm template " + steps.Quote(r.clone+"/"+r.a.Sources[0].Dir()) + " | " + r.c.Kubectl(r.a.Namespace, "diff", "-f", "-")
	}
	r.desired()
	return nil
}

// releaseRecord takes what Helm's record of the release in force has.
func (r *desiredRun) releaseRecord(ctx context.Context) error {
	if r.a.Rendering.Chart == nil || r.a.Rendering.Chart.Record == nil || r.a.Elsewhere(r.c.Server) != "" {
		return nil
	}
	objects, err := manifests.Release(ctx, r.c, *r.a.Rendering.Chart.Record)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.obs.Gaps = append(r.obs.Gaps, "what Helm applied last is not known: "+report.Why(err))
		return nil
	}
	r.release = map[string]map[string]any{}
	for _, o := range objects {
		if of, _, err := r.resourceOf(o); err == nil {
			r.release[of.String()] = placed(o, of.Namespace)
		}
	}
	return nil
}

// keep stores what was rendered, redacted.
func (r *desiredRun) keep() {
	if !r.keeps {
		return
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List", "items": r.wanted.Objects}
	if gap := steps.Keep(r.out, "desired", steps.MediaKubernetes, func(w io.Writer) error { return writeJSON(w, list) }); gap != "" {
		r.obs.Gaps = append(r.obs.Gaps, gap)
	}
}

// isHook reports whether an object that was rendered is run and not kept.
func (r *desiredRun) isHook(o map[string]any) bool {
	meta, _ := o["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	_, argo := notes[argoHook]
	_, helm := notes[helmHook]
	return helm && r.a.Kind != "Kustomization" || argo && r.a.Controller == app.ArgoCD
}
