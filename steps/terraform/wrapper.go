package terraform

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"handrail/steps"
)

// wrapper is a program that runs tofu or terraform for people, and that handrail
// does not run.
type wrapper struct {
	name string
	mark string // file or directory that shows it
}

// maxUp bounds how many directories above a root module are looked into.
const maxUp = 24

// wrappers looks for the marks of the known wrappers in dir and above it, up to
// the root of its repository.
func wrappers(dir string) []wrapper {
	var out []wrapper
	for part := range strings.SplitSeq(dir, string(filepath.Separator)) {
		if part == ".terragrunt-cache" {
			out = append(out, wrapper{"terragrunt", ".terragrunt-cache"})
		}
	}
	look := func(at string, here bool) {
		for _, m := range []wrapper{
			{"terragrunt", "terragrunt.hcl"}, {"terragrunt", ".terragrunt-cache"},
			{"Atlantis", "atlantis.yaml"}, {"Spacelift", ".spacelift"}, {"Terramate", "terramate.tm.hcl"}, {"Terraspace", "Terrafile"},
		} {
			if m.name == "terragrunt" && !here || has(out, m.name) {
				continue
			}
			name := filepath.Join(at, m.mark)
			if _, err := os.Lstat(name); err == nil {
				out = append(out, wrapper{m.name, name})
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

func has(list []wrapper, name string) bool {
	for _, w := range list {
		if w.name == name {
			return true
		}
	}
	return false
}

// say is what a person must know who does without the wrapper.
func (w wrapper) say() string {
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

// unplanned says why no plan of ours would be the plan of the unit, "" where it would.
func unplanned(w workdir) string {
	if has(wrappers(w.dir), "terragrunt") {
		return fmt.Sprintf("%s is a unit of terragrunt, which handrail does not run. Its inputs come from terragrunt: a plan without them would be another plan. Run `terragrunt plan -out=FILE` there yourself, and give FILE to the gate", w.dir)
	}
	switch w.backend {
	case "cloud", "remote":
		return fmt.Sprintf("%s keeps its state and runs its plans on HCP Terraform or another server of that kind (backend %s): there is no plan file that handrail could hold to its digest. Plan and apply on that server", w.dir, w.backend)
	}
	return ""
}

// unitOf explains why a directory that terragrunt prepares is no root module.
func unitOf(dir string, err error) error {
	if _, there := os.Lstat(filepath.Join(dir, "terragrunt.hcl")); there != nil || !errors.Is(err, errNotInitialised) {
		return err
	}
	return fmt.Errorf("%w; it is a unit of terragrunt, which handrail does not run: `terragrunt init` there yourself, and name the directory below .terragrunt-cache that holds .terraform", err)
}

// besides are the settings of a person that a run of handrail does without.
func besides(env steps.Env) []string {
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
