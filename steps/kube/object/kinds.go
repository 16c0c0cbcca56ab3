package object

import (
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
)

// Kinds returns the kinds that read objects as they are.
func Kinds() []steps.Kind {
	what := cluster.ObjectParams()
	return []steps.Kind{
		{
			Name: "kube/get", Class: steps.Probe, Params: cluster.ObjectParams(), Facts: getFacts(),
			Doc:     "Reads one object whole: its identity, its finalizers and owners, who wrote it last, and whether it is being deleted.",
			Touches: []string{"gets the object"},
			Reads:   func(e steps.Env) steps.Prober { return getProbe{e} },
		},
		{
			Name: "kube/list", Class: steps.Probe, Facts: listFacts(),
			Doc: "Lists the objects of one resource in pages, as the columns that kubectl shows or as metadata.",
			Params: []steps.Field{
				what[0], what[2],
				{Name: "all_namespaces", Type: steps.Bool, Default: "false", Doc: "look in every namespace; a table asks each on its own, eight at once, metadata all at once"},
				{Name: "selector", Type: steps.String, Pattern: cluster.SelectorText, Doc: "label selector"},
				{Name: "read", Type: steps.Enum, Values: []string{"table", "metadata"}, Default: "table", Doc: "table for the columns of kubectl, metadata for identity, labels and finalizers"},
			},
			Touches: []string{"lists the objects, in pages", "lists the namespaces, for a table of all"},
			Reads:   func(e steps.Env) steps.Prober { return listProbe{e} },
		},
		{
			Name: "kube/field", Class: steps.Probe, Facts: fieldFacts(),
			Params: cluster.ObjectParams(steps.Field{Name: "field", Type: steps.String, Required: true, Pattern: fieldpath.Pattern,
				Doc: "field, as data.redis-host or spec.template.spec.containers[name=app].image"}),
			Doc:     "Reads the value of one field of one object, never of a Secret, to lay it beside what it should be.",
			Touches: []string{"gets the object"},
			Reads:   func(e steps.Env) steps.Prober { return fieldProbe{e} },
		},
	}
}
