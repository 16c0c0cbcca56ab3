package terraform

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"handrail/steps"
	"handrail/steps/terraform/tfplan"
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

// ReadPlan reads the output of `show -json` that the parameter file names.
func ReadPlan(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*tfplan.Doc, string, error) {
	name := in.Text("file")
	if name == "" {
		return nil, "", errors.New("the parameter file is missing: name the output of `show -json` of the plan")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(env.Dir, name)
	}
	f, err := openRegular(name)
	if err != nil {
		return nil, name, fmt.Errorf("plan: %w", err)
	}
	defer f.Close()
	d, err := tfplan.ReadJSON(bounded(ctx, f), out.Secret)
	if err != nil {
		return nil, name, fmt.Errorf("plan %s: %w", name, err)
	}
	if !d.Whole {
		return nil, name, fmt.Errorf("plan %s: %s; a saved plan is shown with `show -json`", name, d.Broken)
	}
	return d, name, nil
}
