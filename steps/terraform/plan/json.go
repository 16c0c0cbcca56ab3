package plan

import (
	"context"
	"errors"
	"fmt"
	"io"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfplan"
)

// ReadAny reads the output of `show -json`, or a saved plan itself, that the parameter
// file names. Of a saved plan only what creates is named by its object.
func ReadAny(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*tfplan.Doc, string, error) {
	name := in.Text("file")
	name = steps.Below(env.Dir, name)
	if f, err := steps.OpenRegular(name); err == nil {
		head := make([]byte, 2)
		_, err := io.ReadFull(f, head)
		_ = f.Close()
		if err == nil && string(head) == "PK" {
			return readSavedDoc(ctx, name)
		}
	}
	return ReadJSON(ctx, env, in, out)
}

func readSavedDoc(ctx context.Context, name string) (*tfplan.Doc, string, error) {
	f, _, saved, err := OpenSaved(ctx, name)
	if err != nil {
		return nil, name, err
	}
	if err := f.Close(); err != nil {
		return nil, name, err
	}
	if why := Incomplete(saved, false); why != "" {
		return nil, name, fmt.Errorf("plan %s: %s", name, why)
	}
	return saved.Doc, name, nil
}

// ReadJSON reads the output of `show -json` that the parameter file names.
func ReadJSON(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*tfplan.Doc, string, error) {
	name := in.Text("file")
	if name == "" {
		return nil, "", errors.New("the parameter file is missing: name the output of `show -json` of the plan")
	}
	name = steps.Below(env.Dir, name)
	f, err := steps.OpenRegular(name)
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
