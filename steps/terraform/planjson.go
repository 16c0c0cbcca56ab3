package terraform

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"handrail/steps"
	"handrail/steps/terraform/tfplan"
)

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
