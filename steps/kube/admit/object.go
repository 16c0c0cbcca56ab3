package admit

import (
	"context"
	"encoding/base64"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/document"
	"handrail/steps/kube/object"
)

// readObject reads the object whole, and of a Secret nothing but its metadata.
func readObject(ctx context.Context, c *cluster.Client, t cluster.Target) (cluster.Object, error) {
	if !object.IsSecret(t.Resource) {
		return c.Get(ctx, t.Resource, t.Namespace, t.Name)
	}
	raw, err := c.Read(ctx, t.Path(t.Namespace, t.Name), cluster.AsMetadata, nil)
	if err != nil {
		return cluster.Object{}, err
	}
	o, err := cluster.ParseObject(raw)
	if err != nil {
		return cluster.Object{}, fmt.Errorf("%s: the answer of %s cannot be read: %w", t, c.Server, err)
	}
	delete(o.Object, "data")
	delete(o.Object, "stringData") // of a server that does not know of metadata
	if o.GetUID() == "" || o.GetName() != t.Name {
		return cluster.Object{}, fmt.Errorf("%s: %s answered something else than the object", t, c.Server)
	}
	return o, nil
}

// manifestOf reads the manifest of a step, which must be of the object that the step
// names. Values of a Secret are named to the redactor.
func manifestOf(c *cluster.Client, env steps.Env, in steps.Params, t cluster.Target, out steps.Sink) (map[string]any, error) {
	m, err := document.Manifest(env.Dir, in.Text("file"))
	if err != nil {
		return nil, err
	}
	m = document.Numbers(m).(map[string]any)
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	r, err := c.KindOf(apiVersion, kind)
	if err != nil {
		return nil, err
	}
	meta := metadata(m)
	name, _ := meta["name"].(string)
	space, _ := meta["namespace"].(string)
	switch {
	case r.Group != t.Group || r.Plural != t.Plural:
		return nil, fmt.Errorf("the manifest is of %s, the step is about %s: which one is meant?", r, t.Resource)
	case name != t.Name:
		return nil, fmt.Errorf("the manifest names %q, the step %q: which one is meant?", steps.Clip(name, 100), t.Name)
	case space != "" && space != t.Namespace:
		return nil, fmt.Errorf("the manifest says namespace %q, the step %q: which one is meant?", steps.Clip(space, 100), t.Namespace)
	}
	if t.Namespaced {
		meta["namespace"] = t.Namespace
	}
	if object.IsSecret(t.Resource) {
		tellValues(m, out)
	}
	return m, nil
}

// metadata is that of an object, which gets some where it has none.
func metadata(o map[string]any) map[string]any {
	m, is := o["metadata"].(map[string]any)
	if !is {
		m = map[string]any{}
		o["metadata"] = m
	}
	return m
}

// tellValues names the values of a Secret, as they are written and as they are.
func tellValues(o map[string]any, out steps.Sink) {
	for _, key := range []string{"data", "stringData"} {
		values, _ := o[key].(map[string]any)
		for _, v := range values {
			text, _ := v.(string)
			out.Secret(text)
			if raw, err := base64.StdEncoding.DecodeString(text); err == nil && key == "data" {
				out.Secret(string(raw))
			}
		}
	}
}
