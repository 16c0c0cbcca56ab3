package gitops

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/render"
	"handrail/steps/gitread"
	"handrail/steps/kube/report"
)

// wanted is what Git has of an application.
type wanted struct {
	revision string
	tool     string
	objects  []map[string]any

	version string                 // of a chart
	varies  map[int]map[string]any // objects, by their place, as another rendering has them
	unsaid  map[int]string         // why nothing can be said of an object, by its place
}

// unrendered says why nothing can be rendered of an application, whatever its source holds;
// "" where something may be.
func unrendered(a app.App, clone string) string {
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

// renderAt makes what an application wants at a commit of a clone.
func renderAt(ctx context.Context, env steps.Env, cl *cluster.Client, a app.App, clone, commit string) (wanted, error) {
	if !filepath.IsAbs(clone) {
		clone = filepath.Join(env.Dir, clone)
	}
	c, err := gitread.Open(clone)
	if err != nil {
		return wanted{}, fmt.Errorf("%s: %w", clone, err)
	}
	files, err := render.Gather(ctx, c, commit, a.Sources[0].Dir(), valueFiles(a.Sources[0].Dir(), a.Rendering.Chart)...)
	if err != nil {
		return wanted{}, fmt.Errorf("%s: %w", clone, err)
	}
	chart, err := charted(ctx, cl, a, commit, files)
	if err != nil {
		return wanted{}, err
	}
	r := a.Rendering
	made, err := render.Render(ctx, env.Self, render.Order{Tool: r.Tool, Path: a.Sources[0].Dir(), Recurse: r.Recurse, Namespace: r.Namespace, Override: r.Override, Chart: chart}, files)
	if err != nil {
		return wanted{}, err
	}
	w := wanted{revision: commit, tool: made.Tool, version: made.Version, varies: made.Varies, unsaid: made.Unsaid}
	for _, raw := range made.Objects {
		o, err := cluster.ParseObject(raw)
		if err != nil {
			return wanted{}, fmt.Errorf("what is rendered cannot be read: %w", err)
		}
		w.objects = append(w.objects, o.Object)
	}
	return w, nil
}

// encrypted reports whether an object holds values that SOPS encrypted.
func encrypted(o map[string]any) bool {
	_, is := o["sops"].(map[string]any)
	return is
}

// plainSecret gives a Secret its values as the server keeps them, and tells each of them.
func plainSecret(o map[string]any, out steps.Sink) {
	if o["apiVersion"] != "v1" || o["kind"] != "Secret" {
		return
	}
	data, _ := o["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	if texts, ok := o["stringData"].(map[string]any); ok {
		for key, v := range texts {
			data[key] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(v)))
		}
		delete(o, "stringData")
	}
	for _, v := range data {
		text, _ := v.(string)
		out.Secret(text)
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			out.Secret(string(raw))
		}
	}
	if len(data) > 0 {
		o["data"] = data
	}
}

// errUnredacted says that values may not be compared: nothing would hide them.
var errUnredacted = errors.New("what is kept of it cannot be redacted here")

// hidden is an object as the evidence may hold it: values of Secrets are tokens, equal where
// the values are.
func hidden(o map[string]any, out steps.Sink) (map[string]any, error) {
	if o == nil {
		return nil, nil
	}
	plainSecret(o, out)
	red, ok := out.(steps.RedactingSink)
	if !ok {
		if o["kind"] == "Secret" {
			return nil, errUnredacted
		}
		return o, nil
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if raw, err = red.Redacted(steps.MediaKubernetes, raw); err != nil {
		return nil, err
	}
	kept, err := cluster.ParseObject(raw)
	return kept.Object, err
}

// Annotations of what is run at a sync and not kept. Argo CD knows both, Helm its own; a Kustomization
// applies what has one as any other object.
const (
	argoHook = "argocd.argoproj.io/hook"
	helmHook = "helm.sh/hook"
)

// isHook reports whether an object that was rendered is run and not kept.
func (r *desiredRun) isHook(o map[string]any) bool {
	meta, _ := o["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	_, argo := notes[argoHook]
	_, helm := notes[helmHook]
	return helm && r.a.Kind != "Kustomization" || argo && r.a.Controller == app.ArgoCD
}

// runsOf says which hooks a sync runs: those of the commit, else those that the last operation ran.
func runsOf(a app.App, ch changes) (names []string, say string) {
	if ch.rendered {
		return ch.hooks, "hooks that run with it"
	}
	for _, h := range a.Hooks() {
		names = append(names, h.String()+" ("+h.HookEnd+")")
	}
	return names, "hooks that ran last time, and run again if Git still has them"
}

// asRan reads what is left of each hook that Git has, and tells which of them the next sync would
// run as they ran. One that was deleted after it ran leaves nothing to tell by.
func (r *desiredRun) asRan(ctx context.Context) error {
	var all, same, unread []string
	for _, i := range r.hooks {
		o := r.wanted.objects[i]
		of, _, err := r.resourceOf(o)
		s := &side3{name: of.String(), of: of, desired: placed(o, of.Namespace), unrecorded: true}
		s.version, _ = o["apiVersion"].(string)
		all = append(all, s.name)
		if other := r.wanted.varies[i]; other != nil {
			s.varies = apart(s.desired, placed(other, of.Namespace)) // what comes out otherwise each time tells nothing
		}
		if why := r.wanted.unsaid[i]; err == nil && why != "" {
			err = errors.New(why)
		}
		if err == nil {
			s.live, err = r.live(ctx, s)
		}
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case errors.Is(err, cluster.ErrAbsent):
		case err != nil:
			unread = append(unread, s.name+": "+report.Why(err))
		default:
			if s.actual = s.live.Object; len(s.lines()) == 0 {
				same = append(same, s.name)
			}
		}
	}
	if len(all) > mostListed {
		r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(all), mostListed), "hooks", "hooks_same")
		return nil
	}
	r.f.Set("hooks", steps.StringsOf(all))
	if len(unread) > 0 {
		r.f.Unknown(unread[0], "hooks_same")
		return nil
	}
	r.f.Set("hooks_same", steps.StringsOf(same))
	return nil
}
