package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// goBuild is one run of the go command for one part.
type goBuild struct {
	part Part
	dir  string
	out  string
	tell func(Progress)
}

// ErrNoGo says that the lab cannot be built here.
var ErrNoGo = errors.New("the go command is not in PATH: the lab is built from source, install Go 1.26 or newer")

// ErrNoC says that a part with C in it cannot be built here.
var ErrNoC = errors.New("no C compiler is in PATH, which this part of the lab needs: install gcc or clang, or name one in CC, then try again")

// hasC reports whether the C compiler that the go command would use is there.
func hasC(ctx context.Context, tool string) bool {
	said, err := exec.CommandContext(ctx, tool, "env", "CC").Output()
	words := strings.Fields(string(said))
	if err != nil || len(words) == 0 {
		return false
	}
	_, err = exec.LookPath(words[0])
	return err == nil
}

func (b *goBuild) run(ctx context.Context) (err error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return ErrNoGo
	}
	if b.part.cgo && !hasC(ctx, tool) {
		return ErrNoC
	}
	m := &meter{part: b.part.Name, started: time.Now()}
	b.tell(m.progress(time.Now()))

	defer func() { err = errors.Join(err, os.RemoveAll(b.copied())) }()
	flags, err := b.flags(ctx, tool, m)
	if err != nil {
		return err
	}
	// Counting first costs seconds of minutes and turns a spinner into a bar. It also downloads the modules.
	list := append([]string{tool, "list"}, flags...)
	list = append(list, "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", b.part.target)
	stale := &lineCount{}
	if err := b.step(ctx, m, stale, list); err != nil {
		return err
	}
	m.total = stale.n

	build := append([]string{tool, "build", "-v"}, flags...)
	if err := b.step(ctx, m, io.Discard, append(build, "-o", b.out, b.part.target)); err != nil || len(b.part.beside)+len(b.part.trees) == 0 {
		return err
	}
	return b.keep(ctx, tool, m)
}

// flags are those of the part. Where files of ours are compiled in a module, its content is copied beside the program for
// as long as the build takes, and a go.mod of the same versions names that copy: the go command takes no overlay of what it
// downloaded. What is copied was verified by the download.
func (b *goBuild) flags(ctx context.Context, tool string, m *meter) ([]string, error) {
	o := b.part.over
	if o.module == "" {
		return b.part.flags(), nil
	}
	if err := b.step(ctx, m, io.Discard, []string{tool, "mod", "download", o.module}); err != nil {
		return nil, err
	}
	at, err := b.folder(ctx, tool, m, o.module)
	if err != nil {
		return nil, err
	}
	to := b.copied()
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o700), os.CopyFS(filepath.Join(to, "module"), os.DirFS(at))); err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(b.dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(b.dir, "go.sum"))
	if err != nil {
		return nil, err
	}
	mod = fmt.Appendf(mod, "\nreplace %s => %s\n", o.module, strconv.Quote(filepath.Join(to, "module")))
	files := map[string][]byte{"go.mod": mod, "go.sum": sum}
	for in, by := range o.files {
		if files[filepath.Join("module", in)], err = os.ReadFile(filepath.Join(b.dir, by)); err != nil {
			return nil, err
		}
	}
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(to, name), raw, 0o600); err != nil {
			return nil, err
		}
	}
	return append(b.part.flags(), "-modfile="+filepath.Join(to, "go.mod")), nil
}

// copied is where a module is copied to while it is compiled with files of ours.
func (b *goBuild) copied() string { return b.out + ".module" }

// folder is where a module was unpacked.
func (b *goBuild) folder(ctx context.Context, tool string, m *meter, module string) (string, error) {
	var at strings.Builder
	err := b.step(ctx, m, &at, []string{tool, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module})
	return strings.TrimSpace(at.String()), err
}

// Manifests is the folder of the manifests that belong to a program that the lab built.
func Manifests(program string) string { return filepath.Join(filepath.Dir(program), "manifests") }

// keep copies what is wanted of the modules beside the program. The modules are those that were compiled, so their
// content was verified.
func (b *goBuild) keep(ctx context.Context, tool string, m *meter) error {
	to := Manifests(b.out)
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o700)); err != nil {
		return err
	}
	for i, want := range slices.Concat(b.part.beside, b.part.trees) {
		at, err := b.folder(ctx, tool, m, want.module)
		if err != nil {
			return err
		}
		names, err := filepath.Glob(filepath.Join(at, want.pattern))
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("module %s holds no %s", want.module, want.pattern)
		}
		for _, name := range names {
			as := filepath.Base(name)
			if i >= len(b.part.beside) {
				if as, err = filepath.Rel(at, name); err != nil {
					return err
				}
			}
			if err := keepAt(filepath.Join(to, as), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepAt copies a file, or a folder with all that it holds.
func keepAt(to, from string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600)
}

// step runs one command, in a process group of its own that ends with ctx, and turns its stderr into progress.
func (b *goBuild) step(ctx context.Context, m *meter, stdout io.Writer, argv []string) error {
	if nice, err := exec.LookPath("nice"); err == nil {
		argv = append([]string{nice, "-n", "10"}, argv...)
	}
	// The kernel ties the child to the thread that started it, so this goroutine keeps its thread until the end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout = b.dir, stdout
	// No workspace, and no cgo but where a part is C: the outcome must not depend on what else this machine has.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if b.part.cgo {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	ownGroup(cmd)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(stderr)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			lines <- in.Text()
		}
		_, _ = io.Copy(io.Discard, stderr) // after a monstrous line, only keep the pipe from filling
	}()
	b.follow(m, lines)
	err = cmd.Wait()
	endGroup(cmd)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && len(m.talk) > 0:
		return fmt.Errorf("%w:\n%s", err, strings.Join(m.talk, "\n"))
	}
	return err
}

// follow reports each line, and once a second without one: the link is silent for long.
func (b *goBuild) follow(m *meter, lines <-chan string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case text, more := <-lines:
			if !more {
				return
			}
			m.line(text, time.Now())
		case <-tick.C:
		}
		b.tell(m.progress(time.Now()))
	}
}

// lineCount counts lines that are not empty.
type lineCount struct {
	n    int
	last byte
}

func (c *lineCount) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' && c.last != '\n' && c.last != 0 {
			c.n++
		}
		c.last = b
	}
	return len(p), nil
}
