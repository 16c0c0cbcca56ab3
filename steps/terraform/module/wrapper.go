package module

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"handrail/steps"
)

// Wrapper is a program that runs tofu or terraform for people, and that handrail
// does not run.
type Wrapper struct {
	name string
	mark string // file or directory that shows it
}

// maxUp bounds how many directories above a root module are looked into.
const maxUp = 24

// Wrappers looks for the marks of the known wrappers in dir and above it, up to
// the root of its repository.
func Wrappers(dir string) []Wrapper {
	var out []Wrapper
	for part := range strings.SplitSeq(dir, string(filepath.Separator)) {
		if part == ".terragrunt-cache" {
			out = append(out, Wrapper{"terragrunt", ".terragrunt-cache"})
		}
	}
	look := func(at string, here bool) {
		for _, m := range []Wrapper{
			{"terragrunt", "terragrunt.hcl"}, {"terragrunt", ".terragrunt-cache"},
			{"Atlantis", "atlantis.yaml"}, {"Spacelift", ".spacelift"}, {"Terramate", "terramate.tm.hcl"}, {"Terraspace", "Terrafile"},
		} {
			if m.name == "terragrunt" && !here || HasWrapper(out, m.name) {
				continue
			}
			name := filepath.Join(at, m.mark)
			if _, err := os.Lstat(name); err == nil {
				out = append(out, Wrapper{m.name, name})
			}
		}
	}
	for at, n := dir, 0; n < maxUp; n++ {
		look(at, at == dir)
		up := filepath.Dir(at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || up == at {
			break
		}
		at = up
	}
	return out
}

// HasWrapper reports whether a wrapper of that name is in the list.
func HasWrapper(list []Wrapper, name string) bool {
	for _, w := range list {
		if w.name == name {
			return true
		}
	}
	return false
}

// Say is what a person must know who does without the wrapper.
func (w Wrapper) Say() string {
	switch w.name {
	case "terragrunt":
		return fmt.Sprintf("This is a unit of terragrunt (%s), which handrail does not run: inputs, hooks and credentials that terragrunt would give are missing here.", w.mark)
	case "Atlantis":
		return fmt.Sprintf("Atlantis applies this repository (%s): its locks and its approvals are its own, and handrail sees neither. It honours a pause only where its workflow looks for the marker.", w.mark)
	case "Spacelift":
		return fmt.Sprintf("Spacelift runs this repository (%s): its queue, its policies and the state that it may keep are its own, and handrail sees none of them.", w.mark)
	}
	return fmt.Sprintf("%s runs this repository (%s): what it generates or passes is not what handrail would run with.", w.name, w.mark)
}

// Unplanned says why no plan of ours would be the plan of the unit, "" where it would.
func Unplanned(w Workdir) string {
	if HasWrapper(Wrappers(w.Dir), "terragrunt") {
		return fmt.Sprintf("%s is a unit of terragrunt, which handrail does not run. Its inputs come from terragrunt: a plan without them would be another plan. Run `terragrunt plan -out=FILE` there yourself, and give FILE to the gate", w.Dir)
	}
	switch w.Backend {
	case "cloud", "remote":
		return fmt.Sprintf("%s keeps its state and runs its plans on HCP Terraform or another server of that kind (backend %s): there is no plan file that handrail could hold to its digest. Plan and apply on that server", w.Dir, w.Backend)
	}
	return ""
}

// unitOf explains why a directory that terragrunt prepares is no root module.
func unitOf(dir string, err error) error {
	if _, there := os.Lstat(filepath.Join(dir, "terragrunt.hcl")); there != nil || !errors.Is(err, ErrNotInitialised) {
		return err
	}
	return fmt.Errorf("%w; it is a unit of terragrunt, which handrail does not run: `terragrunt init` there yourself, and name the directory below .terragrunt-cache that holds .terraform", err)
}

// Dropped are the settings of a person that a run of handrail does without.
func Dropped(env steps.Env) []string {
	var out []string
	seen := map[string]bool{}
	for _, kv := range env.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if value == "" || seen[name] || !strings.HasPrefix(name, "TF_CLI_ARGS") {
			continue
		}
		seen[name] = true
		out = append(out, fmt.Sprintf("%s is set and not passed on: handrail gives the program all of its arguments itself. What it would add (a file of values, perhaps) is missing from this run.", name))
	}
	return out
}
