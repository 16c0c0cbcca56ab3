package owner

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	argoVersion   = "argoproj.io/v1alpha1"
	ArgoSkip      = "argocd.argoproj.io/skip-reconcile"
	argoNamespace = "argocd" // where Argo CD usually lives: asked when all namespaces may not be listed
)

// ArgoName is how an application is named to a person.
func ArgoName(namespace, app string) string {
	if namespace == "" {
		return "argocd application " + steps.Clip(app, 253)
	}
	return "argocd application " + steps.Clip(namespace, 63) + "/" + steps.Clip(app, 253)
}

// Applications finds the applications of Argo CD of one name, in every namespace when
// namespace is empty. An empty answer without an error is positive absence.
func Applications(ctx context.Context, c *cluster.Client, namespace, name string) ([]cluster.Object, error) {
	if namespace != "" {
		_, app, err := c.Lookup(ctx, argoVersion, "Application", namespace, name)
		switch {
		case errors.Is(err, cluster.ErrAbsent), errors.Is(err, cluster.ErrNoKind):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return []cluster.Object{app}, nil
	}
	r, err := c.KindOf(argoVersion, "Application")
	if errors.Is(err, cluster.ErrNoKind) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !cluster.Plain(name) {
		return nil, fmt.Errorf("%q can be no name of an application", steps.Clip(name, 100))
	}
	var all []cluster.Object
	err = c.List(ctx, r.Path("", ""), cluster.AsJSON, url.Values{"fieldSelector": {"metadata.name=" + name}}, func(o cluster.Object) { all = append(all, o) })
	if err != nil && cluster.IsForbidden(err) {
		// One namespace may be open where the whole is not; it proves presence only.
		if app, gerr := c.Get(ctx, r, argoNamespace, name); gerr == nil {
			return []cluster.Object{app}, nil
		}
	}
	return all, err
}

// argoApplication says whether one application leaves its objects alone.
func argoApplication(ctx context.Context, c *cluster.Client, t cluster.Target, app cluster.Object, w *Ownership) error {
	name := ArgoName(app.GetNamespace(), app.GetName())
	if skip, err := strconv.ParseBool(app.GetAnnotations()[ArgoSkip]); err == nil && skip {
		w.add(name, PausedYes, "annotation "+ArgoSkip)
		w.find(steps.Info, "%s is skipped by Argo CD altogether: what its status says is old.", name)
		return nil
	}
	policy, set, err := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "automated")
	if raw, there, _ := unstructured.NestedFieldNoCopy(app.Object, "spec", "syncPolicy", "automated"); there && raw == nil {
		set, err = false, nil
	}
	on := set
	if enabled, is := policy["enabled"].(bool); is && !enabled {
		on = false
	}
	switch {
	case err != nil:
		w.doubt(name, "its spec.syncPolicy.automated cannot be read", "ask the team that runs Argo CD")
		return nil
	case on:
		how := c.Kubectl(app.GetNamespace(), "patch", "applications.argoproj.io", app.GetName(), "--type=merge", "-p", `{"spec":{"syncPolicy":{"automated":{"enabled":false}}}}`)
		w.add(name, PausedNo, how)
		return nil
	}
	if !tracksNow(app, t) {
		w.find(steps.Info, "%s does not list %s among its resources.", name, t)
	}
	return argoSet(ctx, c, name, app, w)
}

// tracksNow reports whether an application lists t among its resources.
func tracksNow(app cluster.Object, t cluster.Target) bool {
	list, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
	for _, item := range list {
		m, _ := item.(map[string]any)
		group, _ := m["group"].(string)
		ns, _ := m["namespace"].(string)
		if m["kind"] == t.Kind && m["name"] == t.Name && group == t.Group && (ns == t.Namespace || t.Namespace == "") {
			return true
		}
	}
	return false
}
