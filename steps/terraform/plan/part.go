package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tool"
)

// Part makes a plan for the targets alone, with all else that a saved plan fixes. The
// caller removes the directory of its file.
func Part(ctx context.Context, env steps.Env, w module.Workdir, s backend.Store, program tool.Program, like *tfplan.Saved, targets []string, out steps.Sink) (file string, err error) {
	if env.Private == "" {
		return "", errors.New("there is no place of handrail's own to keep a plan")
	}
	for _, t := range targets {
		if !targetable(t) {
			return "", fmt.Errorf("target %q is not the address of a resource or a module", steps.Clip(t, 200))
		}
	}
	m := &planRun{env: env, w: w, s: s, program: program, targets: targets, out: out}
	if err := m.takeOver(like); err != nil {
		return "", err
	}
	if err := m.place(); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(m.file)))
		}
	}()
	for _, v := range tool.Secrets(env) {
		out.Secret(v)
	}
	// Before the program can print a value, the sink knows which are secret.
	FixedChanges(like, like, out.Secret)
	m.environ = append(tool.Env(env), "TF_WORKSPACE="+w.Space)
	r, err := m.run(ctx)
	switch {
	case err != nil:
		return "", err
	case r.Exit != 0 && r.Exit != 2:
		return "", fmt.Errorf("the plan failed (exit %d): %s", r.Exit, tool.FirstErrorOf(env, r.Stderr))
	}
	return m.file, nil
}

// PartArgs are the arguments that such a plan is made with, but for the values.
func PartArgs(file string, targets []string) []string {
	return (&planRun{targets: targets}).args(file)
}
