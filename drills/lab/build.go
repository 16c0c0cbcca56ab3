package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Binaries maps the name of a part to the path of its program.
type Binaries map[string]string

// Build makes sure that every part is there, building what is missing, and returns where. It blocks for minutes when
// nothing is cached; ending ctx ends the compilers. Two builders of the same part wait for each other.
func Build(ctx context.Context, o Options) (Binaries, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	built := Binaries{}
	for _, part := range Parts() {
		if o.Bare && part.Name == "tofu" {
			if path := o.built(part); path != "" {
				built[part.Name] = path
			}
			continue
		}
		path, err := o.ensure(ctx, part)
		if err != nil {
			return nil, err
		}
		built[part.Name] = path
	}
	return built, nil
}

// Tofu returns the path of the built tofu, building it when it is missing.
func Tofu(ctx context.Context, o Options) (string, error) {
	o, err := o.filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, Parts()[1])
}

// built is the program of a part where it is there, else "".
func (o Options) built(part Part) string {
	src, err := source(o.Source)
	if err != nil {
		return ""
	}
	key, err := part.key(src)
	if err != nil {
		return ""
	}
	if path := filepath.Join(o.Cache, "bin", key, part.Program); isProgram(path) {
		return path
	}
	return ""
}

func (o Options) ensure(ctx context.Context, part Part) (string, error) {
	src, err := source(o.Source)
	if err != nil {
		return "", err
	}
	key, err := part.key(src)
	if err != nil {
		return "", err
	}
	started := time.Now()
	dir := filepath.Join(o.Cache, "bin", key)
	path := filepath.Join(dir, part.Program)
	built := func() (string, error) {
		o.Progress(Progress{Part: part.Name, Stage: StageBuilt, Elapsed: time.Since(started), Text: path})
		return path, nil
	}
	if isProgram(path) {
		return built()
	}
	lock, err := lockFile(ctx, filepath.Join(dir, "lock"), func() {
		o.Progress(Progress{Part: part.Name, Stage: StageWait, Text: "another handrail is building " + part.Name})
	})
	if err != nil {
		return "", fmt.Errorf("waiting to build %s: %w", part.Name, err)
	}
	defer lock.Close()
	if isProgram(path) { // built while we waited
		return built()
	}
	if err := o.compile(ctx, part, src, path); err != nil {
		return "", fmt.Errorf("building %s: %w", part.Name, err)
	}
	return built()
}

// compile builds beside the place and renames, so that what carries the final name is whole. The caller holds the lock.
func (o Options) compile(ctx context.Context, part Part, src, path string) error {
	partial := path + ".partial" // a leftover of a killed build is overwritten: we hold the lock
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	build := func() error {
		if part.made != nil {
			o.Progress(Progress{Part: part.Name, Stage: StageFetch})
			return part.made(ctx, part, filepath.Join(src, part.module), partial)
		}
		return (&goBuild{part: part, dir: filepath.Join(src, part.module), out: partial, tell: o.Progress}).run(ctx)
	}
	if err := build(); err != nil {
		return errors.Join(err, remove(partial))
	}
	if err := syncFile(partial); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	if !isProgram(path) {
		return fmt.Errorf("%q is not an executable file although the build succeeded", path)
	}
	return nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o100 != 0 && info.Size() > 0
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFile makes sure that a power cut cannot leave a file of the right name and the wrong content.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
