package terraform

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

// errNotInitialised says that nothing on disk names the backend.
var errNotInitialised = errors.New("directory not initialised")

// workdir is a root module as it stands on disk: which backend it uses, and
// which workspace. Reading it runs nothing.
type workdir struct {
	dir      string         // absolute
	data     string         // .terraform, or TF_DATA_DIR
	backend  string         // type of the backend
	config   map[string]any // of the backend, as init saved it
	selected string         // workspace in the environment file: what terraform-exec uses
	space    string         // workspace in effect here
}

// openWorkdir reads the root module that the parameters dir and workspace name.
func openWorkdir(env steps.Env, in steps.Params) (workdir, error) {
	dir := in.Text("dir")
	if dir == "" {
		dir = "."
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	w, err := readWorkdir(env, filepath.Clean(dir))
	if err != nil {
		return workdir{}, unitOf(dir, err)
	}
	if name := in.Text("workspace"); name != "" {
		w.space = name
	}
	if !validWorkspace(w.space) {
		return workdir{}, fmt.Errorf("workspace %q of %s is no valid name: check TF_WORKSPACE and %s", w.space, w.dir, filepath.Join(w.data, "environment"))
	}
	return w, nil
}

// workspaceName is what the tools take for a name: what needs no escape in a path.
var workspaceName = regexp.MustCompile(`^[A-Za-z0-9_.~$&+:=@-]+$`)

// validWorkspace keeps a name from leaving the directory that it is part of, which
// the tools let a dot do.
func validWorkspace(name string) bool {
	return workspaceName.MatchString(name) && name != "." && name != ".."
}

func readWorkdir(env steps.Env, dir string) (workdir, error) {
	w := workdir{dir: dir, data: filepath.Join(dir, ".terraform"), backend: "local"}
	if d := env.Getenv("TF_DATA_DIR"); d != "" {
		w.data = d
		if !filepath.IsAbs(d) {
			w.data = filepath.Join(dir, d)
		}
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

func (w *workdir) readWorkspace(env steps.Env) error {
	b, err := readSmall(filepath.Join(w.data, "environment"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("selected workspace: %w", err)
	}
	w.selected = strings.TrimSpace(string(b))
	if w.selected == "" {
		w.selected = "default"
	}
	w.space = w.selected
	if name := env.Getenv("TF_WORKSPACE"); name != "" {
		w.space = name
	}
	return nil
}

// readBackend reads what init saved: a version 3 state file that holds the
// backend with the values of -backend-config.
func (w *workdir) readBackend() (found bool, err error) {
	name := filepath.Join(w.data, "terraform.tfstate")
	b, err := readSmall(name)
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
	w.backend, w.config = saved.Backend.Type, saved.Backend.Config
	return true, nil
}

// assumeLocal accepts a directory that no init has touched only when its state
// is plainly local.
func (w *workdir) assumeLocal() error {
	block, files, err := backendBlock(w.dir)
	if err != nil {
		return err
	}
	if block != "" {
		return fmt.Errorf("%w: %s names a backend in %s, but nothing in %s says which; run tofu init there yourself, handrail never does",
			errNotInitialised, w.dir, block, w.data)
	}
	if _, err := os.Stat(w.data); err == nil && files > 0 {
		return nil
	}
	for _, name := range []string{"terraform.tfstate", ".terraform.tfstate.lock.info", "terraform.tfstate.d"} {
		if _, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: %s has neither %s nor a local state; run tofu init there yourself, handrail never does",
		errNotInitialised, w.dir, filepath.Base(w.data))
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
		b, err := readSmall(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", files, fmt.Errorf("configuration: %w", err)
		}
		if backendWords.Match(b) {
			return e.Name(), files, nil
		}
	}
	return "", files, nil
}

// str returns a setting of the backend, "" when absent or of another type.
func (w workdir) str(key string) string {
	s, _ := w.config[key].(string)
	return s
}

// place is how a person names a workspace.
func (w workdir) place() string { return w.dir + " (" + w.space + ")" }
