package own

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
)

// fileProbe is own/file.
type fileProbe struct {
	env  steps.Env
	outs []steps.Output
}

// Probe implements steps.Prober.
func (p fileProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	if err := trusted(p.env); err != nil {
		return steps.Observation{}, err
	}
	dir, name := in.Text("dir"), filepath.FromSlash(in.Text("path"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.env.Dir, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return steps.Observation{}, err
	}
	switch {
	case p.env.Known == nil:
		return steps.Observation{}, fmt.Errorf("directory %s is not trusted: files are read below trusted directories only", real)
	case !filepath.IsLocal(name):
		return steps.Observation{}, fmt.Errorf("%q leads out of %s: name a file below it", name, real)
	}
	if err := p.env.Known(real); err != nil {
		return steps.Observation{}, fmt.Errorf("directory %s is not trusted to be read: %w", real, err)
	}
	obs := steps.Observation{Command: "cat " + steps.Quote(filepath.Join(real, name))}
	f := steps.NewFacts(fieldsOf("own/file", p.outs))
	raw, info, err := readBelow(real, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Set("exists", steps.BoolOf(false))
		obs.Facts, obs.Summary = f.Rest("there is no such file"), fmt.Sprintf("there is no %s in %s", name, real)
		return obs, nil
	case errors.Is(err, fs.ErrPermission):
		return steps.Observation{}, fmt.Errorf("%w: %w", steps.ErrDenied, err)
	case err != nil:
		return steps.Observation{}, err
	}
	f.Set("exists", steps.BoolOf(true))
	f.Set("size", steps.IntOf(info.Size()))
	f.Set("changed", steps.TimeOf(info.ModTime()))
	kept, gaps := keep(out, "file", raw)
	obs.Gaps = append(gaps, readOutputs(ctx, p.outs, in.Text("as"), kept, f)...)
	obs.Facts = f.Rest("it was not declared")
	obs.Summary = fmt.Sprintf("%s has %d bytes, written %s%s", name, info.Size(), info.ModTime().UTC().Format("2006-01-02 15:04:05 UTC"), told(p.outs, obs.Facts))
	return obs, nil
}

// readBelow reads a regular file that no link leads out of dir to.
func readBelow(dir, name string) ([]byte, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, err := steps.OpenRegularIn(root, name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return steps.ReadAll(f, mostRead)
}

// vetPath says why the path of a file cannot stand as written.
func vetPath(w []steps.Written) error {
	if len(w) != 1 {
		return nil
	}
	switch path := w[0].Text; {
	case strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\`):
		return fmt.Errorf("%q begins at the root: write it from dir", path)
	case slices.Contains(strings.Split(path, "/"), ".."):
		return fmt.Errorf("%q leads out of dir", path)
	}
	return nil
}

// tellFile is a step of own/file in words.
func tellFile(w steps.With) string {
	return "reads the file " + w.Text("path") + " below " + w.Text("dir") + ", which must have been trusted; no link leads out of it"
}
