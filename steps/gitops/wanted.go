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
