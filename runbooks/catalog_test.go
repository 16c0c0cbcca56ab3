package runbooks

import (
	"slices"

	"handrail/steps"
)

// table is a catalog of declarations: these tests read documents, and run
// nothing.
type table []steps.Kind

func (t table) Lookup(name string) (steps.Kind, bool) {
	i := slices.IndexFunc(t, func(k steps.Kind) bool { return k.Name == name })
	if i < 0 {
		return steps.Kind{}, false
	}
	return t[i], true
}

func (t table) Kinds() []steps.Kind { return t }

func field(name string, t steps.Type, values ...string) steps.Field {
	return steps.Field{Name: name, Type: t, Values: values}
}

func where(more ...steps.Field) []steps.Field {
	return append([]steps.Field{
		{Name: "dir", Type: steps.Path, Default: "."},
		{Name: "workspace", Type: steps.String, Pattern: `[A-Za-z0-9._-]+`},
	}, more...)
}

// terraformKinds declares what the kinds of steps/terraform declare.
func terraformKinds() table {
	return table{
		{Name: "terraform/force-unlock", Class: steps.Release, Params: where(
			steps.Field{Name: "lock_id", Type: steps.Ident, Required: true, Pattern: `[A-Za-z0-9._/@:-]+`, Doc: "id of the lock"},
			field("max_apply", steps.Duration))},
		{Name: "terraform/holder", Class: steps.Probe, Params: where(field("who", steps.String), field("created", steps.Time), field("operation", steps.String)),
			Facts: []steps.Field{
				field("alive", steps.Enum, "alive", "dead"), field("here", steps.Bool),
				field("processes", steps.Int), field("orphans", steps.Int), field("pids", steps.Strings),
			}},
		{Name: "terraform/lock", Class: steps.Probe, Params: where(), Facts: []steps.Field{
			field("held", steps.Bool), field("id", steps.Ident), field("who", steps.String), field("operation", steps.String),
			field("created", steps.Time), field("age", steps.Duration), field("backend", steps.Enum, "local", "kubernetes", "other"),
			field("info", steps.String), field("own", steps.Bool), field("path", steps.String),
			field("cluster", steps.String), field("host", steps.String),
		}},
		{Name: "terraform/log", Class: steps.Probe, Params: []steps.Field{{Name: "file", Type: steps.Path, Required: true}},
			Facts: []steps.Field{
				field("found", steps.Bool), field("started", steps.Int), field("completed", steps.Int), field("errored", steps.Int),
				field("interrupted", steps.Bool), field("finished", steps.Bool), field("last_line", steps.String),
				field("completed_addresses", steps.Strings), field("started_addresses", steps.Strings),
			}},
		{Name: "terraform/plan", Class: steps.Heavy, Params: where(field("refresh_only", steps.Bool)), Facts: []steps.Field{
			field("exit", steps.Int), field("add", steps.Int), field("change", steps.Int), field("destroy", steps.Int),
			field("replace", steps.Int), field("clean", steps.Bool), field("changed", steps.Strings),
		}},
		{Name: "terraform/state", Class: steps.Probe, Params: where(), Facts: []steps.Field{
			field("exists", steps.Bool), field("serial", steps.Int), field("lineage", steps.Ident), field("resources", steps.Int),
			field("written", steps.Time), field("tool_version", steps.String), field("backend", steps.Enum, "local", "kubernetes", "other"),
			field("encrypted", steps.Bool), field("addresses", steps.Strings),
		}},
	}
}
