package drills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/steps/strict"
)

// module is the verb tofu.module: a root module with nothing wrong yet.
type module struct{ workspace string }

func readModule(p parser, n *yaml.Node) action {
	f := p.Fields(n, "tofu.module", "dir")
	return module{p.workspace(n, f)}
}

func (m module) apply(ctx context.Context, st *stage) error { return st.prepare(ctx, m.workspace) }

// workspace reads the name of an embedded workspace.
func (p parser) workspace(n *yaml.Node, f map[string]*yaml.Node) string {
	name := p.Text(p.need(n, f, "dir"), "dir")
	if name == "" {
		return ""
	}
	if known := workspaces(); !slices.Contains(known, name) {
		p.Fail(f["dir"], strict.Meant(name, known), "there is no workspace %q", name)
		return ""
	}
	return name
}

func workspaces() []string {
	entries, err := fs.ReadDir(embedded, "workspaces")
	if err != nil {
		return nil // embedded: it is there or the program does not build
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// edit is the verb module.edit: somebody changed the configuration.
type edit struct{ workspace, to string }

func readEdit(p parser, n *yaml.Node) action {
	f := p.Fields(n, "module.edit", "dir", "to")
	e := edit{p.workspace(n, f), p.form(p.need(n, f, "to"), "to", idForm)}
	if e.workspace != "" && e.to != "" {
		if _, err := fs.ReadDir(embedded, path.Join("workspaces", e.workspace, e.to)); err != nil {
			p.Fail(f["to"], "", "the workspace %s has no edit %q", e.workspace, e.to)
		}
	}
	return e
}

func (e edit) apply(_ context.Context, st *stage) error {
	st.say("editing the module: %s", e.to)
	return st.write(path.Join("workspaces", e.workspace, e.to))
}

// write puts the embedded files of a directory into the root module.
func (st *stage) write(from string) error {
	entries, err := fs.ReadDir(embedded, from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "modules" {
			continue // an edit that comes later
		}
		if e.IsDir() {
			if err := st.modules(path.Join(from, e.Name())); err != nil {
				return err
			}
			continue
		}
		src, err := fs.ReadFile(embedded, path.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(st.rec.Dir, e.Name()), src, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// modules puts the modules that a root module calls below it.
func (st *stage) modules(from string) error {
	return fs.WalkDir(embedded, from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(st.rec.Dir, "modules", filepath.FromSlash(name[len(from):]))
		if e.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		src, err := fs.ReadFile(embedded, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, src, 0o600)
	})
}

// prepare writes the workspace and initialises it twice: for robot with a data
// directory of its own, and for the operator, who finds an ordinary one. The
// first creates the state, so that the second only reads.
func (st *stage) prepare(ctx context.Context, workspace string) error {
	st.say("preparing the workspace %s", workspace)
	if err := os.MkdirAll(st.rec.Dir, 0o700); err != nil {
		return err
	}
	if err := st.write(path.Join("workspaces", workspace)); err != nil {
		return err
	}
	if err := st.provide(ctx); err != nil {
		return err
	}
	return st.initialise(ctx)
}

// initialise initialises the root module with the mirror of the drill.
func (st *stage) initialise(ctx context.Context) error {
	if err := os.WriteFile(st.cliConfig(), fmt.Appendf(nil, cliConfig, st.mirror()), 0o600); err != nil {
		return err
	}
	if err := st.init(ctx, st.rec.Namespace.RobotKubeconfig, st.robotEnviron()); err != nil {
		return fmt.Errorf("initialising as robot: %w", err)
	}
	if _, err := st.state(ctx); err != nil {
		return fmt.Errorf("the state that robot's init made: %w", err)
	}
	if err := st.init(ctx, st.rec.Namespace.OperatorKubeconfig, st.operatorEnviron(nil)); err != nil {
		return fmt.Errorf("initialising as operator: %w", err)
	}
	return nil
}

func (st *stage) mirror() string { return filepath.Join(st.home, "mirror") }

// provide puts the provider that the module wants into the mirror, and tells the
// module in which namespace its objects belong. Most modules want none.
func (st *stage) provide(ctx context.Context) error {
	src, err := os.ReadFile(filepath.Join(st.rec.Dir, "main.tf"))
	if err != nil {
		return err
	}
	if st.rec.API != "" {
		if err := os.WriteFile(filepath.Join(st.rec.Dir, "records.auto.tfvars"), fmt.Appendf(nil, "records_api = %q\n", st.rec.API), 0o600); err != nil {
			return err
		}
	}
	if !bytes.Contains(src, []byte(`provider "kubernetes"`)) {
		return nil
	}
	st.say("looking for the provider kubernetes, which is built once")
	program, err := lab.KubernetesProvider(ctx, lab.Options{Progress: st.progress})
	if err != nil {
		return err
	}
	vars := fmt.Appendf(nil, "namespace = %q\n", st.rec.Namespace.Name)
	return errors.Join(lab.MirrorKubernetes(st.mirror(), program),
		os.WriteFile(filepath.Join(st.rec.Dir, "place.auto.tfvars"), vars, 0o600))
}

// progress tells of a build, where there is anything to say.
func (st *stage) progress(p lab.Progress) {
	if p.Stage == lab.StageWait {
		st.say("%s", p.Text)
	}
}

func (st *stage) init(ctx context.Context, kubeconfig string, env []string) error {
	if out, err := st.tryInit(ctx, kubeconfig, env); err != nil {
		return fmt.Errorf("%w: %s", err, last(out))
	}
	return nil
}

func (st *stage) tryInit(ctx context.Context, kubeconfig string, env []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, st.tofu, "init", "-input=false", "-no-color",
		"-backend-config=namespace="+st.rec.Namespace.Name,
		"-backend-config=secret_suffix="+st.rec.Suffix,
		"-backend-config=config_path="+kubeconfig)
	cmd.Dir, cmd.Env = st.rec.Dir, env
	return cmd.CombinedOutput()
}
