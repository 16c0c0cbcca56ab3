package owner

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// argoSet looks whether a generator undoes the pause of an application:
// it writes the whole spec of its applications at each pass.
func argoSet(ctx context.Context, c *cluster.Client, name string, app cluster.Object, w *Ownership) error {
	off := "auto-sync is off; a person may still sync it"
	for _, ref := range app.GetOwnerReferences() {
		if ref.Kind != "ApplicationSet" || !strings.HasPrefix(ref.APIVersion, "argoproj.io/") {
			continue
		}
		from := cluster.Target{Resource: cluster.Resource{Namespaced: true}, Namespace: app.GetNamespace()}
		st, set, err := Parent(ctx, c, from, ref)
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case errors.Is(err, cluster.ErrAbsent), errors.Is(err, cluster.ErrNoKind):
			w.find(steps.Warning, "%s names %s as its generator, which is not there.", name, refText(ref))
			continue
		case err != nil:
			w.doubt(name, "whether "+st.String()+" turns its auto-sync on again: "+err.Error(), "ask the team that runs Argo CD")
			return nil
		case undoesPause(set):
			w.add(name, PausedUnknown, "auto-sync is off, but "+st.String()+" writes its spec and turns it on: change the set, or let it ignore /spec/syncPolicy")
			w.Confirmed = true
			return nil
		}
		off += "; " + st.String() + " leaves it off"
	}
	if mark := app.GetAnnotations()[ArgoTracking]; mark != "" {
		w.find(steps.Info, "%s is itself tracked (%q): a parent application may turn its auto-sync on again.", name, steps.Clip(mark, 300))
	}
	w.add(name, PausedYes, off)
	return nil
}

// undoesPause reports whether a set of applications would turn auto-sync on
// where a person turned it off.
func undoesPause(set cluster.Object) bool {
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
