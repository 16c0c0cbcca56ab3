package kube

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
)

// argoSet looks whether a generator undoes the pause of an application:
// it writes the whole spec of its applications at each pass.
func argoSet(ctx context.Context, c *client, name string, app object, w *ownership) error {
	off := "auto-sync is off; a person may still sync it"
	for _, ref := range app.GetOwnerReferences() {
		if ref.Kind != "ApplicationSet" || !strings.HasPrefix(ref.APIVersion, "argoproj.io/") {
			continue
		}
		from := target{resource: resource{namespaced: true}, namespace: app.GetNamespace()}
		st, set, err := parentOf(ctx, c, from, ref)
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case errors.Is(err, errAbsent), errors.Is(err, errNoKind):
			w.find(steps.Warning, "%s names %s as its generator, which is not there.", name, refText(ref))
			continue
		case err != nil:
			w.doubt(name, "whether "+st.String()+" turns its auto-sync on again: "+err.Error(), "ask whoever runs Argo CD")
			return nil
		case undoesPause(set):
			w.add(name, pausedUnknown, "auto-sync is off, but "+st.String()+" writes its spec and turns it on: change the set, or let it ignore /spec/syncPolicy")
			w.confirmed = true
			return nil
		}
		off += "; " + st.String() + " leaves it off"
	}
	if mark := app.GetAnnotations()[argoTracking]; mark != "" {
		w.find(steps.Info, "%s is itself tracked (%q): a parent application may turn its auto-sync on again.", name, steps.Clip(mark, 300))
	}
	w.add(name, pausedYes, off)
	return nil
}

// undoesPause reports whether a set of applications would turn auto-sync on
// where a person turned it off.
func undoesPause(set object) bool {
	if sync, _, _ := unstructured.NestedString(set.Object, "spec", "syncPolicy", "applicationsSync"); sync == "create-only" || sync == "create-delete" {
		return false
	}
	if rules, _, _ := unstructured.NestedSlice(set.Object, "spec", "ignoreApplicationDifferences"); ignoresSync(rules) {
		return false
	}
	if patch, _, _ := unstructured.NestedString(set.Object, "spec", "templatePatch"); strings.Contains(patch, "automated") {
		return true
	}
	auto, there, _ := unstructured.NestedFieldNoCopy(set.Object, "spec", "template", "spec", "syncPolicy", "automated")
	if !there || auto == nil {
		return false
	}
	m, _ := auto.(map[string]any)
	enabled, is := m["enabled"].(bool)
	return !is || enabled
}

func ignoresSync(rules []any) bool {
	for _, rule := range rules {
		m, _ := rule.(map[string]any)
		if name, _ := m["name"].(string); name != "" {
			continue // for one application only
		}
		pointers, _ := m["jsonPointers"].([]any)
		for _, p := range pointers {
			if p == "/spec/syncPolicy" || p == "/spec/syncPolicy/automated" {
				return true
			}
		}
	}
	return false
}
