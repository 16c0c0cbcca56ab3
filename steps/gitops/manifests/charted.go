package manifests

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/render"
	"handrail/steps/kube/report"
)

// valueFiles are those of a chart outside of it, as far as they are in the repository.
func valueFiles(dir string, c *app.Chart) []string {
	var out []string
	if c == nil {
		return nil
	}
	for _, name := range c.Files {
		if c.Defaults {
			name = "/" + name
		}
		if at, err := render.ValueFile(dir, name); err == nil { // else the rendering says what is wrong
			out = append(out, at)
		}
	}
	return out
}

// charted is what a chart is given at a commit; nil where the files hold none.
func charted(ctx context.Context, c *cluster.Client, a app.App, commit string, files map[string][]byte) (*render.Chart, error) {
	of, dir := a.Rendering.Chart, a.Sources[0].Dir()
	if _, is := files[path.Join(dir, "Chart.yaml")]; of == nil || !is {
		return nil, nil
	}
	out := &render.Chart{Release: of.Release, Namespace: of.Namespace, Files: of.Files, Defaults: of.Defaults, IgnoreMissing: of.IgnoreMissing, SkipCRDs: of.SkipCRDs, SkipTests: of.SkipTests,
		SkipSchema: of.SkipSchema, KubeVersion: of.KubeVersion, APIVersions: of.APIVersions, Upgrades: a.Controller == app.Flux}
	for _, p := range of.Parameters {
		out.Parameters = append(out.Parameters, render.Parameter(p))
	}
	if of.ByRevision {
		out.Suffix = commit[:12]
	}
	if of.Generation != "" {
		out.Suffix = strings.TrimPrefix(out.Suffix+"."+of.Generation, ".")
	}
	for _, from := range of.From {
		text, err := fromConfigMap(ctx, c, a.Namespace, from)
		if err != nil {
			return nil, err
		}
		out.Values = append(out.Values, text)
	}
	if of.Values != "" {
		out.Values = append(out.Values, of.Values)
	}
	if of.KubeVersion != "" && len(of.APIVersions) > 0 {
		return out, nil
	}
	version, apis, err := c.Capabilities()
	if err != nil {
		return nil, fmt.Errorf("what the cluster serves, which a chart may ask for, is not known: %w", err)
	}
	if out.KubeVersion == "" {
		if out.KubeVersion = version.GitVersion; a.Controller == app.ArgoCD {
			out.KubeVersion = strings.TrimRight(version.Major, "+") + "." + strings.TrimRight(version.Minor, "+") // all that it looks at
		}
	}
	if len(out.APIVersions) == 0 {
		out.APIVersions = apis
	}
	return out, nil
}

// fromConfigMap are values that a HelmRelease takes from a ConfigMap beside it.
func fromConfigMap(ctx context.Context, c *cluster.Client, namespace string, from app.ValuesFrom) (string, error) {
	_, o, err := c.Lookup(ctx, "v1", "ConfigMap", namespace, from.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent) && from.Optional:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("its values come from ConfigMap %s/%s, which cannot be read: %s", namespace, from.Name, report.Why(err))
	}
	data, _ := o.Object["data"].(map[string]any)
	text, has := data[from.Key].(string)
	if !has && !from.Optional {
		return "", fmt.Errorf("its values come from key %s of ConfigMap %s/%s, which is not there", from.Key, namespace, from.Name)
	}
	return text, nil
}
