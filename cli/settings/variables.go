package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"handrail/cli/process"
	"handrail/steps"
	"handrail/steps/rabbitmq"
	"handrail/steps/strict"
	"handrail/steps/terraform/tool"
)

// VariablesFile names the variables that a provider wants beside what every program gets. It stands below handrail's
// folder of $XDG_CONFIG_HOME and below that of the machine, never in a repository: what a stranger wrote hands on nothing.
const VariablesFile = "variables.yaml"

// maxVariables bounds how many a team may name.
const maxVariables = 100

// Variables reads what the machine and the user hand on to a program. No file is none. What one of the two does not show,
// the other cannot. A file that is not understood whole hands on nothing, nor does one that names the variable in which a
// broker's password is.
func Variables(p *process.Program) ([]steps.Passed, error) {
	var out []steps.Passed
	for _, at := range rulesDirs(p) {
		dir, err := at.dir()
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", VariablesFile, err)
		}
		list, err := readVariables(p, filepath.Join(dir, VariablesFile))
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			i := slices.IndexFunc(out, func(o steps.Passed) bool { return o.Name == v.Name })
			if i < 0 {
				out = append(out, v)
			} else {
				out[i].Shown = out[i].Shown && v.Shown
			}
		}
	}
	return out, nil
}

func readVariables(p *process.Program, name string) ([]steps.Passed, error) {
	var f variablesFile
	found, err := read(name, "a file of variables", "Variables", nil, &f)
	if err != nil || !found {
		return nil, err
	}
	env, err := p.Env()
	if err != nil {
		return nil, err
	}
	own, err := rabbitmq.PasswordVariables(env)
	if err != nil && !errors.Is(err, rabbitmq.ErrNoFile) {
		return nil, fmt.Errorf("reading %s: which variables hold passwords of brokers cannot be told: %w", name, err)
	}
	var out []steps.Passed
	for _, v := range f.Variables {
		if slices.Contains(own, v.Name) {
			return nil, fmt.Errorf("%s: %s holds the password of a broker that brokers.yaml names, and goes to that broker alone: take it out", name, v.Name)
		}
		out = append(out, steps.Passed{Name: v.Name, Shown: v.Shown})
	}
	return out, nil
}

type variablesFile struct {
	Variables []passedVariable `key:"variables,required" of:"a variable" hint:"list them under variables:"`
}

type passedVariable struct {
	Name  string `key:"name,required" hint:"a variable has a name, and shown: true where its value is no secret"`
	Shown bool   `key:"shown"`
}

// Check bounds the list, and wants each name once.
func (f *variablesFile) Check(r *strict.Reader, n *strict.Node) {
	list := strict.At(n, "variables")
	if len(f.Variables) > maxVariables {
		r.Fail(list.Content[maxVariables], "", "more than %d variables", maxVariables)
		return
	}
	for i, v := range f.Variables {
		if slices.ContainsFunc(f.Variables[:i], func(o passedVariable) bool { return o.Name == v.Name }) {
			r.Fail(list.Content[i], "", "%s is named twice", v.Name)
		}
	}
}

// Check wants a variable that steers neither the program nor handrail.
func (v *passedVariable) Check(r *strict.Reader, n *strict.Node) {
	if err := tool.Refused(v.Name); err != nil {
		r.Fail(strict.At(n, "name"), "give the provider the value in its configuration, by TF_VAR_NAME", "%v", err)
	}
}

// CheckVariables says what is handed on, before a plan needs it.
func CheckVariables(p *process.Program) process.Check {
	const name = "variables"
	list, err := Variables(p)
	if err != nil {
		return process.Check{Name: name, State: "bad", Detail: err.Error(), Next: "fix the file: until then it hands on nothing"}
	}
	return process.Check{Name: name, State: "ok", Detail: "a program gets those of the known clouds and backends, and " + process.Counted(len(list), "variable") + " of the team"}
}
