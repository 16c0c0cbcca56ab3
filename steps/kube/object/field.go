package object

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
	"handrail/steps/kube/report"
)

const (
	// longestField bounds a value in a fact.
	longestField = 4096
	// longestEntries bounds what its entries hold together, and mostEntries how many there are.
	longestEntries, mostEntries = 16 << 10, 200
)

func fieldFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "present", Type: steps.Bool, Doc: "whether it has the field"},
		{Name: "value", Type: steps.String, Doc: "the field: a text as it is, anything else as JSON, empty where it is not there; unknown above 4 kB"},
		{Name: "entries", Type: steps.Table, Doc: "of a field like data, each key to its text; empty where it is not there; unknown above 200 keys or 16 kB, and where a value is no text"},
		{Name: "uid", Type: steps.Ident, Doc: "UID of the object"},
		{Name: "rv", Type: steps.Ident, Doc: "resourceVersion of the object as it was read here"},
	}
}

type fieldProbe struct{ env steps.Env }

var errSecretField = errors.New("the values of a Secret are never read; kube/blame says who wrote a key of it, and when")

// Probe implements steps.Prober.
func (p fieldProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	path, err := fieldpath.Parse(in.Text("field"))
	if err != nil {
		return steps.Observation{}, err
	}
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, t, err := cluster.Reach(inner, p.env, in, out)
	switch {
	case err != nil:
		return steps.Observation{}, report.Cause(turned(), err)
	case IsSecret(t.Resource):
		return steps.Observation{}, errSecretField
	}
	obs := steps.Observation{Command: c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml")}
	f := steps.NewFacts(fieldFacts())
	o, err := c.Get(inner, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return report.Absent(t, obs.Command, f, c.Warnings()), nil
	case err != nil:
		return steps.Observation{}, report.Cause(turned(), err)
	}
	at, err := path.In(o.Object)
	if err != nil {
		return steps.Observation{}, err
	}
	f.Set("exists", steps.BoolOf(true))
	f.Set("uid", steps.IdentOf(string(o.GetUID())))
	f.Set("rv", steps.IdentOf(o.GetResourceVersion()))
	f.Set("present", steps.BoolOf(at.Present))
	if entries, why := entriesOf(at.Value, at.Present); why != "" {
		f.Unknown(why, "entries")
	} else {
		f.Set("entries", steps.TableOf(entries))
	}
	text, ok := at.Value.(string)
	if !ok && at.Present {
		raw, err := json.Marshal(at.Value)
		if err != nil {
			return steps.Observation{}, fmt.Errorf("field %s of %s: %w", path, t, err)
		}
		text = string(raw)
	}
	obs.Summary = fmt.Sprintf("%s of %s is %s.", path, t, steps.Clip(text, 200))
	switch {
	case !at.Present:
		obs.Summary = fmt.Sprintf("%s has no %s.", t, path)
		f.Set("value", steps.StringOf(""))
	case len(text) > longestField:
		f.Unknown(fmt.Sprintf("it is longer than %d bytes", longestField), "value")
	default:
		f.Set("value", steps.StringOf(text))
	}
	obs.Findings = c.Warnings()
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// entriesOf are the entries of a field that maps names to texts, or why they are not known.
func entriesOf(value any, present bool) (map[string]string, string) {
	entries := map[string]string{}
	if !present {
		return entries, ""
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, "the field holds no names with texts"
	}
	size := 0
	for name, v := range fields {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Sprintf("%q in it is no text", steps.Clip(name, 100))
		}
		size += len(name) + len(text)
		entries[name] = text
	}
	if len(entries) > mostEntries || size > longestEntries {
		return nil, fmt.Sprintf("it has more than %d keys or %d bytes", mostEntries, longestEntries)
	}
	return entries, ""
}
