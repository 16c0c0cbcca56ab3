package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// SourceVariable names the clone of handrail that the lab is built from: it is other Go modules, which can be neither
// imported nor embedded.
const SourceVariable = "HANDRAIL_LAB_SOURCE"

// SourceArchive is the source of the lab as a release has it, beside the program.
const SourceArchive = "handrail-lab-source.tar.gz"

// ErrNoSource says that the modules of the lab cannot be found.
var ErrNoSource = errors.New("the source of the lab was not found: neither around or beside the program (" + SourceArchive + ") nor around the working directory")

// Part is one program of the lab, built from a Go module of its own.
type Part struct {
	Name    string // for people
	Program string // file name
	module  string // folder of its go.mod, inside the clone
	target  string // package to build
	ldflags string
	gcflags []string // patterns of packages with flags: what is compiled without optimisation takes half as long
	beside  []beside // kept in the folder manifests beside the program, by their names
	trees   []beside // kept there at their paths in the module, folders whole
	tags    string   // of the build, with commas between them
	cgo     bool     // it has C in it, so a C compiler must be there
	over    over     // a module of which files are compiled from ours
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
			ldflags: "-s -w -X github.com/opentofu/opentofu/version.dev=no", gcflags: plainly(clients...)},
	}
}

// beside are files of a module that the program's users need, as they are in the version that was built.
type beside struct {
	module  string
	pattern string // of paths in the module
}

// over is a module that is compiled with files of ours in the place of its own: what those import is a choice, and only a
// part of it is used.
type over struct {
	module string
	files  map[string]string // path in the module to ours in the folder of the part
}

// clients are the modules by which tofu speaks to clouds and servers: more than half of its code. A
// run sends some dozens of requests, so their speed does not show, and the wait for the first
// drill does.
var clients = []string{
	"cloud.google.com", "github.com/Azure", "github.com/aliyun", "github.com/aws", "github.com/cncf", "github.com/envoyproxy",
	"github.com/tencentcloud", "github.com/tencentyun", "go.opentelemetry.io", "google.golang.org/api", "google.golang.org/genproto",
	"google.golang.org/grpc", "k8s.io/api", "k8s.io/client-go", "k8s.io/kube-openapi",
}

// plainly compiles modules without optimisation.
func plainly(modules ...string) []string {
	var out []string
	for _, m := range modules {
		out = append(out, m+"/...=-N -l -dwarf=false")
	}
	return out
}

// Source finds the clone that the lab is built from, as every part of it does. A process that is started elsewhere is
// told what was found.
func Source(given string) (string, error) { return source(given) }

// source finds the clone: what the caller says, then the variable, then what the program stands in or beside, then
// upwards from the working directory.
func source(given string) (string, error) {
	named := "--lab-source"
	if given == "" {
		given, named = os.Getenv(SourceVariable), SourceVariable
	}
	if given != "" {
		if !hasLab(given) {
			return "", fmt.Errorf("%s: %q has no lab/go.mod of handrail: %w", named, given, ErrNoSource)
		}
		return filepath.Abs(given)
	}
	if exe, err := os.Executable(); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil {
			if dir, err := besideProgram(filepath.Dir(exe)); dir != "" || err != nil {
				return dir, err
			}
		}
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

// besideProgram finds the clone that holds the folder of the program, or unpacks the archive in it; "" where there is
// neither. Who put the program there put them there.
func besideProgram(dir string) (string, error) {
	for _, clone := range []string{dir, filepath.Dir(dir)} { // no further: above may be a folder that all can write to
		if hasLab(clone) {
			return clone, nil
		}
	}
	archive := filepath.Join(dir, SourceArchive)
	raw, err := os.ReadFile(archive)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	to := filepath.Join(cache, "source-"+hex.EncodeToString(sum[:])[:16])
	if hasLab(to) {
		return to, nil
	}
	partial := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := errors.Join(os.RemoveAll(partial), untar(bytes.NewReader(raw), partial)); err != nil {
		return "", fmt.Errorf("unpacking %q: %w", archive, errors.Join(err, os.RemoveAll(partial)))
	}
	if !hasLab(partial) {
		return "", fmt.Errorf("%q has no lab/go.mod of handrail: %w", archive, errors.Join(ErrNoSource, os.RemoveAll(partial)))
	}
	if err := os.Rename(partial, to); err != nil { // another process was there before
		if err := errors.Join(err, os.RemoveAll(partial)); !hasLab(to) {
			return "", err
		}
	}
	return to, nil
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
	stand, err := standIns(dir)
	if err != nil {
		return "", fmt.Errorf("reading the source of %s: %w", p.Name, err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %s %s\n", runtime.GOOS, runtime.GOARCH, p.target, strings.Join(p.flags(), " "))
	for _, want := range p.beside {
		fmt.Fprintf(sum, "%s %s\n", want.module, want.pattern)
	}
	for _, want := range p.trees {
		fmt.Fprintf(sum, "tree %s %s\n", want.module, want.pattern)
	}
	if p.cgo {
		fmt.Fprintln(sum, "cgo")
	}
	for _, in := range slices.Sorted(maps.Keys(p.over.files)) {
		fmt.Fprintf(sum, "%s %s\n", p.over.module, in)
		names = append(names, p.over.files[in])
	}
	for _, name := range append(names, stand...) {
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
	for _, f := range p.gcflags {
		flags = append(flags, "-gcflags="+f)
	}
	if p.tags != "" {
		flags = append(flags, "-tags="+p.tags)
	}
	return flags
}
