package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// sourceDir is stamped when handrail is built from a clone: -ldflags '-X handrail/drills/lab.sourceDir=DIR'. The lab is
// another Go module, which can be neither imported nor embedded.
var sourceDir string

// ErrNoSource says that the modules of the lab cannot be found.
var ErrNoSource = errors.New("the source of the lab was not found: run inside a clone of handrail, or build handrail with `make` in a clone that stays in place")

// Part is one program of the lab, built from a Go module of its own.
type Part struct {
	Name    string // for people
	Program string // file name
	module  string // folder of its go.mod, inside the clone
	target  string // package to build
	ldflags string
	gcflags string // for a large program that only tests start: a build without optimisation takes half as long
	// made makes the program at path where go build does not, from the folder src.
	made func(ctx context.Context, part Part, src, path string) error
}

// Parts of the lab, in the order in which they are built.
func Parts() []Part {
	return []Part{
		{Name: "cluster", Program: "handrail-lab", module: "lab", target: ".",
			// Without a version the server calls itself v0.0.0 and version checks misbehave.
			ldflags: "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3"},
		{Name: "tofu", Program: "tofu", module: filepath.Join("lab", "tofu"), target: "github.com/opentofu/opentofu/cmd/tofu",
			// Otherwise it calls itself a -dev prerelease, which version constraints treat apart.
			ldflags: "-s -w -X github.com/opentofu/opentofu/version.dev=no"},
	}
}

// source finds the clone: what the caller says, then the stamp, then upwards from the working directory.
func source(given string) (string, error) {
	if given != "" {
		if !hasLab(given) {
			return "", fmt.Errorf("%q has no lab/go.mod: %w", given, ErrNoSource)
		}
		return filepath.Abs(given)
	}
	if sourceDir != "" && hasLab(sourceDir) { // else the clone was moved; perhaps we stand in it
		return sourceDir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("%w (%v)", ErrNoSource, err)
	}
	for {
		if hasLab(dir) {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ErrNoSource
		}
		dir = up
	}
}

// hasLab looks into the file: any other project may have a folder of that name.
func hasLab(dir string) bool {
	raw, err := os.ReadFile(filepath.Join(dir, "lab", "go.mod"))
	return err == nil && strings.HasPrefix(string(raw), "module handrail/lab\n")
}

// key names the outcome of a build: equal keys mean equal inputs. The Go version is left out on purpose: a newer
// toolchain makes no other lab, and the build takes minutes.
func (p Part) key(src string) (string, error) {
	dir := filepath.Join(src, p.module)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("reading the source of %s: %w", p.Name, err)
	}
	var names []string // sorted
	for _, e := range entries {
		if decides(e.Name()) {
			names = append(names, e.Name())
		}
	}
	beside, err := standIns(dir)
	if err != nil {
		return "", fmt.Errorf("reading the source of %s: %w", p.Name, err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %s %s\n", runtime.GOOS, runtime.GOARCH, p.target, strings.Join(p.flags(), " "))
	for _, name := range append(names, beside...) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", fmt.Errorf("reading the source of %s: %w", p.Name, err)
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(raw))
		if _, err := sum.Write(raw); err != nil {
			return "", err
		}
	}
	return p.Name + "-" + hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// standIns names the sources of the modules below dir that its go.mod puts in the
// place of others.
func standIns(dir string) ([]string, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(mod)) {
		_, at, found := strings.Cut(strings.TrimSpace(line), "=> ./")
		if !found {
			continue
		}
		err := filepath.WalkDir(filepath.Join(dir, at), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !decides(e.Name()) {
				return err
			}
			name, err := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

func decides(name string) bool {
	return name == "go.mod" || name == "go.sum" || name == "package.json" || name == "packages.txt" || name == "package-lock.json" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

func (p Part) flags() []string {
	flags := []string{"-mod=readonly", "-buildvcs=false", "-ldflags=" + p.ldflags}
	if p.gcflags != "" {
		flags = append(flags, "-gcflags="+p.gcflags)
	}
	return flags
}
