package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !decides(e.Name()) })
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %s %s\n", runtime.GOOS, runtime.GOARCH, p.target, strings.Join(p.flags(), " "))
	for _, e := range entries { // sorted by name
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", fmt.Errorf("reading the source of %s: %w", p.Name, err)
		}
		fmt.Fprintf(sum, "%s %d\n", e.Name(), len(raw))
		if _, err := sum.Write(raw); err != nil {
			return "", err
		}
	}
	return p.Name + "-" + hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func decides(name string) bool {
	return name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

func (p Part) flags() []string {
	return []string{"-mod=readonly", "-buildvcs=false", "-ldflags=" + p.ldflags}
}
