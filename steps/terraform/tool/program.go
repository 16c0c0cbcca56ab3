package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	semver "github.com/hashicorp/go-version"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// programTime bounds the question for a version.
const programTime = 40 * time.Second

// Program is the tool that would run in a root module.
type Program struct {
	Path    string
	Product string // OpenTofu or Terraform
	Version string
}

// String names the program with its version and its path.
func (p Program) String() string { return p.Product + " " + p.Version + " at " + p.Path }

// Short is how a person calls it.
func (p Program) Short() string {
	if p.Product == module.Terraform {
		return "terraform"
	}
	return "tofu"
}

// Word is how a person types the program at a path, which is "" where none was found.
func Word(path string) string {
	switch base := filepath.Base(path); {
	case path == "":
		return "tofu"
	case base == "tofu" || base == "terraform":
		return base
	}
	return steps.Quote(path)
}

// Find returns the absolute path of the tool of a root module: the one that
// was named by flag, else the one whose traces are in the directory, else tofu.
// hosts are those of the providers in the state, as far as they are known.
func Find(env steps.Env, w module.Workdir, hosts map[string]int) (string, error) {
	if env.Tool == nil {
		return "", errors.New("no tofu: nothing says where to look for it")
	}
	name := "tofu"
	if product, _ := w.Traces(hosts); product == module.Terraform {
		name = "terraform"
	}
	path, err := env.Tool(name)
	if err != nil {
		return "", err
	}
	path = steps.Below(env.Dir, path)
	return path, nil
}

// For is Find, and which program that is.
func For(ctx context.Context, env steps.Env, w module.Workdir, hosts map[string]int) (Program, error) {
	path, err := Find(env, w, hosts)
	if err != nil {
		return Program{}, err
	}
	return programAt(ctx, env, path)
}

// versionLine is the first line of `version`; a warning about the CLI
// configuration may stand before it.
var versionLine = regexp.MustCompile(`(?m)^(OpenTofu|Terraform) v(\S+)\s*$`)

// programAt asks a program who it is. It runs apart from every root module. With an error its path is known all the same: a
// machine that is too busy to answer has no other program than before.
func programAt(ctx context.Context, env steps.Env, path string) (Program, error) {
	if p, ok := known(path); ok {
		return p, nil
	}
	before, _ := os.Stat(path) // what cannot be looked at cannot be asked
	p, err := askProgram(ctx, env, path)
	if err == nil {
		keep(path, before, p)
	}
	return p, err
}

func askProgram(ctx context.Context, env steps.Env, path string) (Program, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	r, err := Run(ctx, os.TempDir(), Env(env), path, "version")
	if err != nil {
		return Program{Path: path}, fmt.Errorf("asking %s for its version: %w", path, err)
	}
	m := versionLine.FindSubmatch(r.Stdout)
	if r.Exit != 0 || m == nil {
		return Program{Path: path}, fmt.Errorf("%s is neither OpenTofu nor Terraform, or cannot run: %s", path, steps.Clip(FirstError(append(r.Stderr, r.Stdout...)), 200))
	}
	return Program{Path: path, Product: string(m[1]), Version: steps.Clip(string(m[2]), 60)}, nil
}

// Mixed says where the program that is about to run is not the one that the
// directory or the state knows: both tools take such a state without a word.
func (p Program) Mixed(w module.Workdir, hosts map[string]int, wrote string) []string {
	var out []string
	if product, why := w.Traces(hosts); product != "" && product != p.Product {
		out = append(out, fmt.Sprintf("The program is %s, but %s is of %s. Neither tool says a word when it takes the state of the other; name the right one with --program.", p, why, product))
	}
	is, err := semver.NewVersion(p.Version)
	was, wasErr := semver.NewVersion(wrote)
	if err == nil && wasErr == nil && wrote != "" && was.GreaterThan(is) {
		out = append(out, fmt.Sprintf("The state was written by version %s, newer than %s %s. It is taken all the same, and what this version does not know of it is dropped with the next write; the number may be of either tool.", wrote, p.Product, p.Version))
	}
	return out
}
