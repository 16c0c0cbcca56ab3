package state

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfstate"
)

// Visit reads the present state that the parameters dir and workspace mean,
// natively, and shows each instance. It returns where the state is, and an error
// where there is none that can be relied on. A local state that is not there or has 0
// bytes records nothing, as long as no copy of an earlier one lies beside it.
func Visit(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink, visit func(*tfstate.Instance) error) (where string, err error) {
	w, s, err := backend.OpenAt(ctx, env, in, out)
	if err != nil {
		return "", err
	}
	r, err := s.State(ctx)
	switch {
	case err != nil:
		return "", err
	case !r.Exists && Earlier(ctx, w) == "":
		return r.Where, ctx.Err()
	case !r.Exists:
		return r.Where, fmt.Errorf("no state is recorded at %s", r.Where)
	case r.Broken != "":
		return r.Where, fmt.Errorf("the state at %s cannot be read: %s", r.Where, r.Broken)
	}
	defer r.Body.Close()
	d, err := tfstate.Read(module.Until(ctx, r.Body), tfstate.Options{Secret: out.Secret, Visit: visit})
	switch {
	case err != nil:
		return r.Where, fmt.Errorf("state at %s: %w", r.Where, err)
	case d.Encrypted:
		return r.Where, fmt.Errorf("the state at %s is encrypted", r.Where)
	case d.Condition() == tfstate.Empty && Earlier(ctx, w) == "":
		return r.Where, ctx.Err()
	case !d.Usable():
		return r.Where, fmt.Errorf("the state at %s: %s", r.Where, d.Faults[0].Say)
	}
	return r.Where, nil
}
