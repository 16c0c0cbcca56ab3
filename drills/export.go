package drills

import (
	"context"
	"maps"
	"slices"

	"handrail/steps"
)

// export is a value that robot reads right after the injection.
type export struct {
	name   string
	source string
}

// source is where an exported value comes from.
type source struct {
	typ  steps.Type
	read func(ctx context.Context, st *stage) (steps.Value, error)
}

func sources() map[string]source {
	return map[string]source{
		"lease.holderIdentity": {steps.Ident, func(ctx context.Context, st *stage) (steps.Value, error) {
			id, err := st.holder(ctx)
			return steps.IdentOf(id), err
		}},
		"state.serial": {steps.Int, func(ctx context.Context, st *stage) (steps.Value, error) {
			s, err := st.state(ctx)
			return steps.IntOf(s.Serial), err
		}},
		"state.lineage": {steps.Ident, func(ctx context.Context, st *stage) (steps.Value, error) {
			s, err := st.state(ctx)
			return steps.IdentOf(s.Lineage), err
		}},
	}
}

func sourceNames() []string { return slices.Sorted(maps.Keys(sources())) }
