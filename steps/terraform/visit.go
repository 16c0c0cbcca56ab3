package terraform

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/terraform/tfstate"
)

// VisitState reads the present state that the parameters dir and workspace mean,
// natively, and shows each instance. It returns where the state is, and an error
// where there is none that can be relied on.
func VisitState(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink, visit func(*tfstate.Instance) error) (where string, err error) {
	_, s, err := open(ctx, env, in, out)
	if err != nil {
		return "", err
	}
	r, err := s.state(ctx)
	switch {
	case err != nil:
		return "", err
	case !r.exists:
		return r.where, fmt.Errorf("no state is recorded at %s", r.where)
	case r.broken != "":
		return r.where, fmt.Errorf("the state at %s cannot be read: %s", r.where, r.broken)
	}
	defer r.body.Close()
	d, err := tfstate.Read(bounded(ctx, r.body), tfstate.Options{Secret: out.Secret, Visit: visit})
	switch {
	case err != nil:
		return r.where, fmt.Errorf("state at %s: %w", r.where, err)
	case d.Encrypted:
		return r.where, fmt.Errorf("the state at %s is encrypted", r.where)
	case !d.Usable():
		return r.where, fmt.Errorf("the state at %s: %s", r.where, d.Faults[0].Say)
	}
	return r.where, nil
}
