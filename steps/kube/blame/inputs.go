package blame

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
	"handrail/steps/kube/object"
)

const (
	// mostInputs bounds the candidates; shortestInput is the shortest value that
	// is worth looking for.
	mostInputs    = 50
	shortestInput = 4
)

// Inputs are the ConfigMaps of the namespace that hold a value which a person
// writes into the object again and again: what it may be made from. Secrets are
// not searched. A protected one is named as such: it looks like the input, and is
// to be left alone.
func Inputs(ctx context.Context, c *cluster.Client, t cluster.Target, value any) ([]string, error) {
	text, ok := fieldpath.Text(value)
	switch {
	case !t.Namespaced:
		return nil, fmt.Errorf("%s has no namespace in which to look for what it is made from", t)
	case !ok || len(text) < shortestInput:
		return nil, fmt.Errorf("the value cannot be looked for elsewhere")
	}
	marks, err := object.ProtectionOf(c.Env)
	if err != nil {
		return nil, err
	}
	type candidate struct {
		name  string
		exact bool
	}
	var found []candidate
	configMaps := cluster.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
	err = c.List(ctx, configMaps.Path(t.Namespace, ""), cluster.AsJSON, nil, func(o cluster.Object) {
		if t.Plural == configMaps.Plural && t.Group == "" && o.GetName() == t.Name {
			return
		}
		data, _ := o.Object["data"].(map[string]any)
		var keys []string
		exact := false
		for key, v := range data {
			if s, _ := v.(string); strings.TrimSpace(s) == text {
				keys, exact = append(keys, key), true
			} else if strings.Contains(s, text) {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			return
		}
		slices.Sort(keys)
		name := configMaps.Label(t.Namespace, o.GetName()) + ": " + steps.Clip(strings.Join(keys, ", "), 200)
		if mark, is := marks.Of(o); is {
			name += " (protected: " + mark + ")"
		}
		found = append(found, candidate{name, exact})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(truth(a.exact), truth(b.exact)), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(len(found), mostInputs)] {
		out = append(out, f.name)
	}
	return out, nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
