package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"handrail/steps"
)

// ErrNotInitialised says that nothing on disk names the backend.
var ErrNotInitialised = errors.New("directory not initialised")

// Workdir is a root module as it stands on disk: which backend it uses, and
// which workspace. Reading it runs nothing.
type Workdir struct {
	Dir      string         // absolute
	Data     string         // .terraform, or TF_DATA_DIR
	Backend  string         // type of the backend
	Config   map[string]any // of the backend, as init saved it
	Selected string         // workspace in the environment file: what terraform-exec uses
	Space    string         // workspace in effect here
}

// Open reads the root module that the parameters dir and workspace name.
func Open(env steps.Env, in steps.Params) (Workdir, error) {
	dir := in.Text("dir")
	if dir == "" {
		dir = "."
	}
	dir = steps.Below(env.Dir, dir)
	w, err := Read(env, filepath.Clean(dir))
	if err != nil {
		return Workdir{}, unitOf(dir, err)
	}
	if name := in.Text("workspace"); name != "" {
		w.Space = name
	}
	if !ValidWorkspace(w.Space) {
		return Workdir{}, fmt.Errorf("workspace %q of %s is no valid name: check TF_WORKSPACE and %s", w.Space, w.Dir, filepath.Join(w.Data, "environment"))
	}
	return w, nil
}

// WorkspaceName is what the tools take for a name: what needs no escape in a path.
var WorkspaceName = regexp.MustCompile(`^[A-Za-z0-9_.~$&+:=@-]+$`)

// ValidWorkspace keeps a name from leaving the directory that it is part of, which
// the tools let a dot do.
func ValidWorkspace(name string) bool {
	return WorkspaceName.MatchString(name) && name != "." && name != ".."
}

// Read reads the root module in dir, with the workspace that the environment or the
// directory selects.
func Read(env steps.Env, dir string) (Workdir, error) {
	w := Workdir{Dir: dir, Data: filepath.Join(dir, ".terraform"), Backend: "local"}
	if d := env.Getenv("TF_DATA_DIR"); d != "" {
		w.Data = steps.Below(dir, d)
	}
	if info, err := os.Stat(dir); err != nil {
		return w, fmt.Errorf("directory %s: %w", dir, err)
	} else if !info.IsDir() {
		return w, fmt.Errorf("%s is not a directory: name the root module whose state is meant", dir)
	}
	if err := w.readWorkspace(env); err != nil {
		return w, err
	}
	found, err := w.readBackend()
	if err != nil || found {
		return w, err
	}
	return w, w.assumeLocal()
}

func (w *Workdir) readWorkspace(env steps.Env) error {
	b, err := ReadSmall(filepath.Join(w.Data, "environment"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("selected workspace: %w", err)
	}
	w.Selected = strings.TrimSpace(string(b))
	if w.Selected == "" {
		w.Selected = "default"
	}
	w.Space = w.Selected
	if name := env.Getenv("TF_WORKSPACE"); name != "" {
		w.Space = name
	}
	return nil
}

// readBackend reads what init saved: a version 3 state file that holds the
// backend with the values of -backend-config.
func (w *Workdir) readBackend() (found bool, err error) {
	name := filepath.Join(w.Data, "terraform.tfstate")
	b, err := ReadSmall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("backend settings: %w", err)
	}
	var saved struct {
		Version int `json:"version"`
		Backend *struct {
			Type   string         `json:"type"`
			Config map[string]any `json:"config"`
		} `json:"backend"`
	}
	if err := json.Unmarshal(b, &saved); err != nil {
		return false, fmt.Errorf("backend settings in %s cannot be read: %w; run tofu init there yourself", name, err)
	}
	if saved.Backend == nil || saved.Backend.Type == "" {
		return false, nil
	}
	if saved.Version != 3 {
		return false, fmt.Errorf("backend settings in %s have format version %d, handrail knows 3", name, saved.Version)
	}
	w.Backend, w.Config = saved.Backend.Type, saved.Backend.Config
	return true, nil
}

// assumeLocal accepts a directory that no init has touched only when its state
// is plainly local.
func (w *Workdir) assumeLocal() error {
	block, files, err := backendBlock(w.Dir)
	if err != nil {
		return err
	}
	if block != "" {
		return fmt.Errorf("%w: %s names a backend in %s, but nothing in %s says which; run tofu init there yourself, handrail never does",
			ErrNotInitialised, w.Dir, block, w.Data)
	}
	if _, err := os.Stat(w.Data); err == nil && files > 0 {
		return nil
	}
	for _, name := range []string{"terraform.tfstate", ".terraform.tfstate.lock.info", "terraform.tfstate.d"} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: %s has neither %s nor a local state; run tofu init there yourself, handrail never does",
		ErrNotInitialised, w.Dir, filepath.Base(w.Data))
}

var backendWords = regexp.MustCompile(`(?m)^\s*(backend\s+"[^"]+"\s*\{|cloud\s*\{)|"(backend|cloud)"\s*:`)

// backendBlock returns the first file that names a backend. A match too many
// only asks for an init.
func backendBlock(dir string) (file string, files int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", 0, fmt.Errorf("directory %s: %w", dir, err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".json")
		if ext := filepath.Ext(name); e.IsDir() || (ext != ".tf" && ext != ".tofu") {
			continue
		}
		files++
		b, err := ReadSmall(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", files, fmt.Errorf("configuration: %w", err)
		}
		if backendWords.Match(b) {
			return e.Name(), files, nil
		}
	}
	return "", files, nil
}

// Setting returns a setting of the backend, "" when absent or of another type.
func (w Workdir) Setting(key string) string {
	s, _ := w.Config[key].(string)
	return s
}

// Place is how a person names a workspace.
func (w Workdir) Place() string { return w.Dir + " (" + w.Space + ")" }
