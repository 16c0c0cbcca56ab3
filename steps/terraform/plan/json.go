package plan

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfplan"
)

// ReadJSON reads the output of `show -json` that the parameter file names.
func ReadJSON(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*tfplan.Doc, string, error) {
	name := in.Text("file")
	if name == "" {
		return nil, "", errors.New("the parameter file is missing: name the output of `show -json` of the plan")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(env.Dir, name)
	}
	f, err := module.OpenRegular(name)
	if err != nil {
		return nil, name, fmt.Errorf("plan: %w", err)
	}
	defer f.Close()
	d, err := tfplan.ReadJSON(module.Until(ctx, f), out.Secret)
	if err != nil {
		return nil, name, fmt.Errorf("plan %s: %w", name, err)
	}
	if !d.Whole {
		return nil, name, fmt.Errorf("plan %s: %s; a saved plan is shown with `show -json`", name, d.Broken)
	}
	return d, name, nil
}
