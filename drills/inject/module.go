package inject

import (
	"bytes"
	"context"
	"embed"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

//go:embed workspaces
var workspaceFiles embed.FS

// module is the verb tofu.module: a root module with nothing wrong yet.
type module struct {
	Dir string `key:"dir,required" as:"workspace"`
}

func (m module) apply(ctx context.Context, st *stage.Stage) error {
	return prepare(ctx, st, m.Dir)
}

// workspace reads the name of an embedded workspace.
func workspace(r *strict.Reader, n *strict.Node, what string) any {
	name := r.Text(n, what)
	if known := workspaces(); name != "" && !slices.Contains(known, name) {
		r.Fail(n, strict.Meant(name, known), "there is no workspace %q", name)
	}
	return name
}

func workspaces() []string {
	entries, err := fs.ReadDir(workspaceFiles, "workspaces")
	if err != nil {
		return nil // embedded: it is there or the program does not build
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// providerOf is the part of the lab that is a provider of a workspace, "" for none: one for
// which an API is started is built for that.
func providerOf(workspace string) string {
	src, err := fs.ReadFile(workspaceFiles, path.Join("workspaces", workspace, "main.tf"))
	if err == nil && bytes.Contains(src, []byte(stage.UsesKubernetes)) {
		return "kubernetes"
	}
	return ""
}

// edit is the verb module.edit: the configuration was changed.
type edit struct {
	Dir string `key:"dir,required" as:"workspace"`
	To  string `key:"to,required" as:"id"`
}

// Check wants the edit in the workspace.
func (e *edit) Check(r *strict.Reader, n *strict.Node) {
	if _, err := fs.ReadDir(workspaceFiles, path.Join("workspaces", e.Dir, e.To)); err != nil {
		r.Fail(strict.At(n, "to"), "", "the workspace %s has no edit %q", e.Dir, e.To)
	}
}

func (e edit) apply(_ context.Context, st *stage.Stage) error {
	st.Say("editing the module: %s", e.To)
	return write(st, path.Join("workspaces", e.Dir, e.To))
}

// write puts the embedded files of a directory into the root module.
func write(st *stage.Stage, from string) error {
	entries, err := fs.ReadDir(workspaceFiles, from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "modules" {
			continue // an edit that comes later
		}
		if e.IsDir() {
			if err := modules(st, path.Join(from, e.Name())); err != nil {
				return err
			}
			continue
		}
		src, err := fs.ReadFile(workspaceFiles, path.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(st.Rec.Dir, e.Name()), src, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// modules puts the modules that a root module calls below it.
func modules(st *stage.Stage, from string) error {
	return fs.WalkDir(workspaceFiles, from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(st.Rec.Dir, "modules", filepath.FromSlash(name[len(from):]))
		if e.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		src, err := fs.ReadFile(workspaceFiles, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, src, 0o600)
	})
}

// prepare writes the workspace and initialises it twice: for robot with a data
// directory of its own, and for the operator, who finds an ordinary one. The
// first creates the state, so that the second only reads.
func prepare(ctx context.Context, st *stage.Stage, workspace string) error {
	st.Say("preparing the workspace %s", workspace)
	if err := os.MkdirAll(st.Rec.Dir, 0o700); err != nil {
		return err
	}
	if err := write(st, path.Join("workspaces", workspace)); err != nil {
		return err
	}
	if err := st.Configure(); err != nil {
		return err
	}
	if err := st.Provide(ctx); err != nil {
		return err
	}
	return st.Initialise(ctx)
}
