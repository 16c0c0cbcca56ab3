package module

import "handrail/steps"

// Where says which workspace and which type of backend the parameters dir and
// workspace of a runbook mean. It reads files and runs nothing.
func Where(env steps.Env, in steps.Params) (workspace, backend string, err error) {
	w, err := Open(env, in)
	return w.Space, w.Backend, err
}
