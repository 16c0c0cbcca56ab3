package terraform

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
)

// programTime bounds the question for a version.
const programTime = 20 * time.Second

// program is the tool that would run in a root module.
type program struct {
	path    string
	product string // OpenTofu or Terraform
	version string
}

func (p program) String() string { return p.product + " " + p.version + " at " + p.path }

// short is how a person calls it.
func (p program) short() string {
	if p.product == terraform {
		return "terraform"
	}
	return "tofu"
}

// findTool returns the absolute path of the tool of a root module: the one that
// was named by flag, else the one whose traces are in the directory, else tofu.
// hosts are those of the providers in the state, as far as they are known.
func findTool(env steps.Env, w workdir, hosts map[string]int) (string, error) {
	if env.Tool == nil {
		return "", errors.New("no tofu: nothing says where to look for it")
	}
	name := "tofu"
	if product, _ := w.traces(hosts); product == terraform {
		name = "terraform"
	}
	path, err := env.Tool(name)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	return path, nil
}

// programFor is findTool, and who that is.
func programFor(ctx context.Context, env steps.Env, w workdir, hosts map[string]int) (program, error) {
	path, err := findTool(env, w, hosts)
	if err != nil {
		return program{}, err
	}
	return programAt(ctx, env, path)
}

// versionLine is the first line of `version`; a warning about the CLI
// configuration may stand before it.
var versionLine = regexp.MustCompile(`(?m)^(OpenTofu|Terraform) v(\S+)\s*$`)

// programAt asks a program who it is. It runs apart from every root module.
func programAt(ctx context.Context, env steps.Env, path string) (program, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	r, err := run(ctx, os.TempDir(), childEnv(env), path, "version")
	if err != nil {
		return program{}, err
	}
	m := versionLine.FindSubmatch(r.stdout)
	if r.exit != 0 || m == nil {
		return program{}, fmt.Errorf("%s is neither OpenTofu nor Terraform, or cannot run: %s", path, clip(firstError(append(r.stderr, r.stdout...)), 200))
	}
	return program{path: path, product: string(m[1]), version: clip(string(m[2]), 60)}, nil
}

// mixed says where the program that is about to run is not the one that the
// directory or the state knows: both tools take such a state without a word.
func (p program) mixed(w workdir, hosts map[string]int, wrote string) []string {
	var out []string
	if product, why := w.traces(hosts); product != "" && product != p.product {
		out = append(out, fmt.Sprintf("The program is %s, but %s is of %s. Neither tool says a word when it takes the state of the other; name the right one with --program.", p, why, product))
	}
	is, err := semver.NewVersion(p.version)
	was, wasErr := semver.NewVersion(wrote)
	if err == nil && wasErr == nil && wrote != "" && was.GreaterThan(is) {
		out = append(out, fmt.Sprintf("The state was written by version %s, newer than %s %s. It is taken all the same, and what this version does not know of it is dropped with the next write; the number may be of either tool.", wrote, p.product, p.version))
	}
	return out
}
