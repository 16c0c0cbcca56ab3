//go:build unix

package lab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// clone is a source whose cluster part compiles in a second: building is the same, only smaller.
func clone(t *testing.T, main string) (Options, Part) {
	t.Helper()
	src := t.TempDir()
	write(t, filepath.Join(src, "lab", "go.mod"), "module handrail/lab\n\ngo 1.26.0\n")
	write(t, filepath.Join(src, "lab", "main.go"), main)
	o, err := Options{Cache: t.TempDir(), Source: src}.filled()
	if err != nil {
		t.Fatal(err)
	}
	return o, Parts()[0]
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

const small = "package main\n\nfunc main() { println(1) }\n"

func TestBuildOnce(t *testing.T) {
	t.Parallel()
	o, part := clone(t, small)
	var compiled atomic.Int32
	var wg sync.WaitGroup
	var paths [3]string
	for i := range paths {
		wg.Go(func() {
			own := o
			counted := sync.OnceFunc(func() { compiled.Add(1) })
			own.Progress = func(p Progress) {
				if p.Stage == StageCount { // only who compiles counts
					counted()
				}
			}
			var err error
			if paths[i], err = own.ensure(t.Context(), part); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if paths[0] != paths[1] || paths[1] != paths[2] || !isProgram(paths[0]) {
		t.Errorf("ensure() = %q", paths)
	}
	before, err := os.Stat(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.ensure(t.Context(), part); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(paths[0]); err != nil || !os.SameFile(before, after) {
		t.Errorf("the program was built again (%v)", err)
	}
	if compiled.Load() != 1 {
		t.Errorf("%d of three builders compiled, want one", compiled.Load())
	}
}

func TestBuildIgnoresHalf(t *testing.T) {
	t.Parallel()
	o, part := clone(t, small)
	key, err := part.key(o.Source)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Cache, "bin", key, part.Program)
	half := "\x7fELF half of a program"
	write(t, path+".partial", half)
	got, err := o.ensure(t.Context(), part)
	if err != nil || got != path {
		t.Fatalf("ensure() = %q, %v", got, err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) == half {
		t.Errorf("the half-built program is used (%v)", err)
	}
	if _, err := os.Stat(path + ".partial"); !os.IsNotExist(err) {
		t.Errorf("the half-built program is still there: %v", err)
	}
}

func TestBuildChangedPin(t *testing.T) {
	t.Parallel()
	o, part := clone(t, small)
	first, err := o.ensure(t.Context(), part)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(o.Source, "lab", "go.sum"), "")
	second, err := o.ensure(t.Context(), part)
	if err != nil || first == second {
		t.Errorf("after a changed go.sum ensure() = %q, %v; before %q", second, err, first)
	}
	if !isProgram(first) {
		t.Error("the program of the earlier pin is gone, although a lab may be running it")
	}
}

// What is wanted of a module is beside its program, and a build whose module lacks it fails.
func TestBuildKeepsManifests(t *testing.T) {
	t.Parallel()
	o, part := clone(t, small)
	write(t, filepath.Join(o.Source, "lab", "crds", "one.yaml"), "kind: One\n")
	write(t, filepath.Join(o.Source, "lab", "crds", "notes.md"), "")
	plain, err := part.key(o.Source)
	if err != nil {
		t.Fatal(err)
	}
	part.beside = []beside{{"handrail/lab", "crds/*.yaml"}}
	path, err := o.ensure(t.Context(), part)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(filepath.Dir(path)) == plain {
		t.Error("a program with manifests has the key of one without")
	}
	kept, err := os.ReadDir(Manifests(path))
	if err != nil || len(kept) != 1 || kept[0].Name() != "one.yaml" {
		t.Errorf("beside it are %v, %v", kept, err)
	}
	part.trees = []beside{{"handrail/lab", "crds"}}
	if path, err = o.ensure(t.Context(), part); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(Manifests(path), "crds", "notes.md")); err != nil {
		t.Errorf("a folder is not kept whole: %v", err)
	}
	part.beside = []beside{{"handrail/lab", "crds/*.json"}}
	if _, err := o.ensure(t.Context(), part); err == nil || !strings.Contains(err.Error(), "holds no crds/*.json") {
		t.Errorf("without its manifests the build says %v", err)
	}
}

// A part with C in it says what is missing before it compiles for minutes.
func TestBuildWantsACompiler(t *testing.T) {
	o, part := clone(t, small)
	part.cgo = true
	t.Setenv("CC", filepath.Join(t.TempDir(), "no-such-compiler"))
	if _, err := o.ensure(t.Context(), part); !errors.Is(err, ErrNoC) {
		t.Errorf("without a C compiler the build says %v, want %v", err, ErrNoC)
	}
}

// TestBuilder is the process that TestBuildAfterKilledBuilder kills; on its own it has nothing to do.
func TestBuilder(t *testing.T) {
	src, cache := os.Getenv("HANDRAIL_LAB_TEST_SOURCE"), os.Getenv("HANDRAIL_LAB_TEST_CACHE")
	if src == "" || cache == "" {
		return
	}
	o, err := Options{Source: src, Cache: cache}.filled()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.ensure(t.Context(), Parts()[0]); err != nil {
		t.Fatal(err)
	}
}

func TestBuildAfterKilledBuilder(t *testing.T) {
	t.Parallel()
	o, part := clone(t, small)
	key, err := part.key(o.Source)
	if err != nil {
		t.Fatal(err)
	}
	builder := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBuilder$")
	builder.Env = append(os.Environ(), "HANDRAIL_LAB_TEST_SOURCE="+o.Source, "HANDRAIL_LAB_TEST_CACHE="+o.Cache)
	if err := builder.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = builder.Wait(); close(ended) }()
	within(t, "the builder to begin", func() bool {
		return isHeld(filepath.Join(o.Cache, "bin", key, "lock")) || startMark(builder.Process.Pid) == ""
	})
	_ = builder.Process.Kill() // it may have been quicker, which is fine too
	<-ended
	path, err := o.ensure(t.Context(), part)
	if err != nil || !isProgram(path) {
		t.Fatalf("ensure() after a killed builder = %q, %v", path, err)
	}
	if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil || string(out) != "1\n" {
		t.Errorf("the program says %q, %v", out, err)
	}
}

func TestBuildBroken(t *testing.T) {
	t.Parallel()
	o, part := clone(t, "package main\n\nfunc main() { nonsense() }\n")
	_, err := o.ensure(t.Context(), part)
	if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("ensure() = %v, want the compiler's words", err)
	}
}

func TestBuildCancelled(t *testing.T) {
	t.Parallel()
	o, part := clone(t, small)
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	o.Progress = func(p Progress) {
		if p.Stage == StageCount {
			once.Do(cancel)
		}
	}
	if _, err := o.ensure(ctx, part); !errors.Is(err, context.Canceled) {
		t.Errorf("ensure() = %v, want %v", err, context.Canceled)
	}
	if found, err := filepath.Glob(filepath.Join(o.Cache, "bin", "*", part.Program+"*")); err != nil || len(found) != 0 {
		t.Errorf("a cancelled build left %q (%v)", found, err)
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	if _, err := source(t.TempDir()); !errors.Is(err, ErrNoSource) {
		t.Errorf("source(empty folder) = %v, want %v", err, ErrNoSource)
	}
	here, err := source("")
	if err != nil || !hasLab(here) {
		t.Errorf("source() = %q, %v; want this clone", here, err)
	}
}

// TestLabKeepsItsSource for the programs that it builds when they are wanted.
func TestLabKeepsItsSource(t *testing.T) {
	t.Parallel()
	l := &Lab{source: t.TempDir()}
	for name, build := range map[string]func(context.Context) (string, error){
		"writers": l.Writers, "rabbitmq": l.Rabbit, "records": l.Records,
		"kubernetes": func(ctx context.Context) (string, error) { return l.KubernetesProvider(ctx, func(Progress) {}) },
	} {
		if path, err := build(t.Context()); !errors.Is(err, ErrNoSource) {
			t.Errorf("%s: %q, %v, want %v", name, path, err, ErrNoSource)
		}
	}
}

// TestSourceIsNamed by the variable, which goes over what lies around, and must be a clone.
func TestSourceIsNamed(t *testing.T) {
	here, err := source("")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv(SourceVariable, here)
	if got, err := source(""); err != nil || got != here {
		t.Errorf("by the variable: %q, %v", got, err)
	}
	t.Setenv(SourceVariable, t.TempDir())
	if got, err := source(""); !errors.Is(err, ErrNoSource) || !strings.Contains(err.Error(), SourceVariable) {
		t.Errorf("a variable that names no clone: %q, %v", got, err)
	}
	if got, err := source(here); err != nil || got != here {
		t.Errorf("by the caller: %q, %v", got, err)
	}
}

// TestSourceBesideTheProgram: the clone that it was built in, or the archive of a release,
// which is unpacked once for each content.
func TestSourceBesideTheProgram(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	bin := filepath.Join(t.TempDir(), "up", "bin")
	if err := os.MkdirAll(filepath.Join(filepath.Dir(filepath.Dir(bin)), "lab"), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what, want string) {
		t.Helper()
		if got, err := besideProgram(bin); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", what, got, err, want)
		}
	}
	put(filepath.Join(bin, "handrail"), "")
	put(filepath.Join(filepath.Dir(filepath.Dir(bin)), "lab", "go.mod"), "module handrail/lab\n")
	want("a clone two folders above is another's", "")
	archive := filepath.Join(bin, SourceArchive)
	put(archive, "no archive")
	if got, err := besideProgram(bin); err == nil {
		t.Errorf("a broken archive: %q", got)
	}
	put(archive, string(packed(t, tar.Header{Name: "handrail/lab/other", Mode: 0o644})))
	if got, err := besideProgram(bin); !errors.Is(err, ErrNoSource) {
		t.Errorf("an archive of something else: %q, %v", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "handrail", "*")); len(left) != 0 {
		t.Errorf("it leaves %v", left)
	}
	raw := labArchive(t)
	put(archive, string(raw))
	sum := sha256.Sum256(raw)
	unpackedTo := filepath.Join(cache, "handrail", "source-"+hex.EncodeToString(sum[:])[:16])
	want("the archive", unpackedTo)
	want("the archive again", unpackedTo)
	put(filepath.Join(filepath.Dir(bin), "lab", "go.mod"), "module handrail/lab\n")
	want("the clone", filepath.Dir(bin))
}

// labArchive is a release's archive of a lab that has no more than a go.mod.
func labArchive(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	const mod = "module handrail/lab\n"
	err := w.WriteHeader(&tar.Header{Name: "handrail/lab/go.mod", Mode: 0o644, Size: int64(len(mod)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = w.Write([]byte(mod))
	}
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestLockIsTakenAgainAfterRemoval(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dir", "lock")
	first, err := lockFile(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	told, got := make(chan struct{}), make(chan error)
	go func() {
		second, err := lockFile(t.Context(), path, func() { close(told) })
		if err == nil {
			_, err = os.Stat(path)
			second.Close()
		}
		got <- err
	}()
	<-told
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("lockFile() = %v, want a lock on a file that is there", err)
	}
	held, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := tryLock(path); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("tryLock() of a held lock = %v, want %v", err, syscall.EWOULDBLOCK)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := lockFile(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("lockFile() of a held lock = %v, want %v", err, context.Canceled)
	}
}

func TestBuildChangedStandIn(t *testing.T) {
	t.Parallel()
	o, part := clone(t, small)
	mod := filepath.Join(o.Source, "lab", "go.mod")
	write(t, mod, "module handrail/lab\n\nreplace example.com/other => ./other\n")
	if _, err := part.key(o.Source); err == nil {
		t.Error("a module that stands in for another and is not there passes")
	}
	write(t, filepath.Join(o.Source, "lab", "other", "deep", "other.go"), "package deep\n")
	first, err := part.key(o.Source)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(o.Source, "lab", "other", "deep", "other.go"), "package deep // changed\n")
	if second, err := part.key(o.Source); err != nil || first == second {
		t.Errorf("after a change of what stands in for a module key() = %q, %v", second, err)
	}
	part.over = over{"example.com/third", map[string]string{"list.go": "ours/list.go"}}
	if _, err := part.key(o.Source); err == nil {
		t.Error("a file that takes the place of one of a module and is not there passes")
	}
	ours := filepath.Join(o.Source, "lab", "ours", "list.go")
	write(t, ours, "package list\n")
	third, err := part.key(o.Source)
	write(t, ours, "package list // changed\n")
	if fourth, again := part.key(o.Source); err != nil || again != nil || third == fourth {
		t.Errorf("after a change of what is compiled in a module key() = %q, %v, %v", fourth, err, again)
	}
}
