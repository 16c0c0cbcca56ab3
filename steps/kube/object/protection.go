package object

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// builtinMarkers protect an object in every cluster, no matter who wrote them.
func builtinMarkers() []steps.Marker {
	return []steps.Marker{
		{Key: "*/role", Value: "protected"},
		{Key: "*/purpose", Value: "chaos-canary"},
	}
}

// Protection is by what the objects of a cluster are known to be no one's to
// change.
type Protection []steps.Marker

// ProtectionOf reads the markers of the team. Where they cannot be read nothing
// may be changed.
func ProtectionOf(env steps.Env) (Protection, error) {
	all := Protection(builtinMarkers())
	if env.Protected == nil {
		return all, nil
	}
	team, err := env.Protected()
	if err != nil {
		return nil, fmt.Errorf("which objects are protected: %w", err)
	}
	for _, m := range team {
		if m.Key != "" { // would be every object
			all = append(all, m)
		}
	}
	return all, nil
}

// marks reports whether m is about a label or an annotation. Values are compared
// without their case: a marker that was written in another one is meant.
func marks(m steps.Marker, key, value string) bool {
	name, any := strings.CutPrefix(m.Key, "*/")
	if any && name != "" {
		if key != name && !strings.HasSuffix(key, "/"+name) {
			return false
		}
	} else if key != m.Key {
		return false
	}
	return m.Value == "" || strings.EqualFold(strings.TrimSpace(value), m.Value)
}

// on names the marker that one set of labels or annotations bears.
func (p Protection) on(what string, set map[string]string) (string, bool) {
	for _, key := range slices.Sorted(maps.Keys(set)) {
		for _, m := range p {
			if marks(m, key, set[key]) {
				return fmt.Sprintf("the %s %s=%s", what, steps.Clip(key, 200), steps.Clip(set[key], 100)), true
			}
		}
	}
	return "", false
}

// Of names the marker that an object bears, on itself or on what it makes.
func (p Protection) Of(o cluster.Object) (string, bool) {
	if why, is := p.on("label", o.GetLabels()); is {
		return why, true
	}
	if why, is := p.on("annotation", o.GetAnnotations()); is {
		return why, true
	}
	for _, at := range [][]string{{"spec", "template"}, {"spec", "jobTemplate"}, {"spec", "jobTemplate", "spec", "template"}} {
		for _, kind := range []string{"labels", "annotations"} {
			set, _, _ := unstructured.NestedFieldNoCopy(o.Object, append(slices.Clone(at), "metadata", kind)...)
			if why, is := p.on(strings.TrimSuffix(kind, "s"), Texts(set)); is {
				return why + " of what it makes", true
			}
		}
	}
	return "", false
}

// Texts are the text values of an unchecked map: the accessors of
// unstructured drop the whole of a map that holds one number.
func Texts(set any) map[string]string {
	m, _ := set.(map[string]any)
	out := map[string]string{}
	for key, v := range m {
		out[key] = fmt.Sprint(v)
	}
	return out
}
