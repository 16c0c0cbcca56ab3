package gitops

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/act"
)

const (
	// mostCompared bounds the objects that a preview reads.
	mostCompared = 40
	// mostFields bounds the fields of one object that it shows.
	mostFields = 20
	// lastApplied is where a client-side apply keeps what it applied.
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// backwards says of each object that differs which fields a sync takes back: what was
// applied last, held against what is live. Git may hold more than what was applied since;
// what it holds is not read here, and the lines say so.
func backwards(ctx context.Context, c *cluster.Client, a app.App) []steps.KV {
	if where := a.Elsewhere(c.Server); where != "" {
		return []steps.KV{{Key: "live", Value: "not known: each object " + strings.TrimPrefix(inOther(where), "it ")}}
	}
	of := a.Differing()
	var out []steps.KV
	for i, r := range of {
		if i == mostCompared {
			out = append(out, steps.KV{Key: "not compared", Value: fmt.Sprintf("%d more", len(of)-mostCompared)})
			break
		}
		if r.Prune {
			continue
		}
		out = append(out, steps.KV{Key: "live " + r.String(), Value: takenBack(ctx, c, r)})
	}
	return out
}

// takenBack is one line about one object.
func takenBack(ctx context.Context, c *cluster.Client, r app.Resource) string {
	if r.Group == "" && r.Kind == "Secret" {
		return "a Secret: its values are not read"
	}
	kind, err := c.AnyVersion(r.Group+"/v1", r.Kind)
	if r.Group == "" {
		kind, err = c.AnyVersion("v1", r.Kind)
	}
	if err != nil {
		return "not known: " + err.Error()
	}
	o, err := c.Get(ctx, kind, r.Namespace, r.Name)
	if err != nil {
		return "not known: " + steps.Clip(err.Error(), 300)
	}
	text := o.GetAnnotations()[lastApplied]
	if text == "" {
		return "what was applied last is not kept on it (server-side apply): compare it with Git"
	}
	var applied map[string]any
	if json.Unmarshal([]byte(text), &applied) != nil {
		return "what was applied last cannot be read"
	}
	lines := departures("", applied, o.Object)
	switch {
	case len(lines) == 0:
		return "is as it was applied last: Git holds something else now"
	case len(lines) > mostFields:
		return strings.Join(lines[:mostFields], "; ") + fmt.Sprintf("; and %d more fields", len(lines)-mostFields)
	}
	return strings.Join(lines, "; ")
}

// departures are the fields of applied that live has otherwise. Of lists only those of
// objects with a name are compared item by item.
func departures(at string, applied, live any) []string {
	switch a := applied.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			break
		}
		var out []string
		for _, key := range sortedKeys(a) {
			below := strings.TrimPrefix(at+"."+key, ".")
			if below == "metadata.annotations" || below == "status" || below == "apiVersion" {
				continue
			}
			out = append(out, departures(below, a[key], l[key])...)
		}
		return out
	case []any:
		l, ok := live.([]any)
		if !ok || !named(a) || !named(l) {
			break
		}
		var out []string
		for _, item := range a {
			name := item.(map[string]any)["name"]
			i := slices.IndexFunc(l, func(v any) bool { return v.(map[string]any)["name"] == name })
			if i < 0 {
				out = append(out, fmt.Sprintf("%s[name=%v] is gone", at, name))
				continue
			}
			out = append(out, departures(fmt.Sprintf("%s[name=%v]", at, name), item, l[i])...)
		}
		for _, item := range l {
			name := item.(map[string]any)["name"]
			if !slices.ContainsFunc(a, func(v any) bool { return v.(map[string]any)["name"] == name }) {
				out = append(out, fmt.Sprintf("%s[name=%v] is added", at, name))
			}
		}
		return out
	}
	if same(applied, live) {
		return nil
	}
	return []string{fmt.Sprintf("%s %s, was applied as %s", at, shown(live), shown(applied))}
}

// named reports whether a list is one of objects that each have a name.
func named(list []any) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool {
		m, _ := v.(map[string]any)
		_, is := m["name"].(string)
		return !is
	})
}

// same compares values as JSON has them: numbers come in several types.
func same(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func shown(v any) string {
	if v == nil {
		return "none"
	}
	return steps.Clip(shownWhole(v), 120)
}

func shownWhole(v any) string {
	raw, err := act.Compact(v)
	if err != nil {
		return "unreadable"
	}
	return string(raw)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
