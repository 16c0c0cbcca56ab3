package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"handrail/steps/strict"
)

// remote tells what kustomize would fetch: addresses, and repositories as it spells them.
var remote = regexp.MustCompile(`://|^git::|^gh:|^(?:www\.)?github\.com[/:]|^[\w.-]+@[\w.-]+:|\?(?:ref|version|timeout|submodules)=|^[\w-]+(?:\.[\w-]+)+/.+(?:\.git\b|//)`)

// kustomize builds the kustomization of a path, with what stands at the rest of the tree.
func (t tree) kustomize(o Order) ([]map[string]any, error) {
	if t.kustomization(o.Path) == "" {
		return nil, fmt.Errorf("%s has no kustomization", path.Clean(o.Path))
	}
	return t.build(o, o.Path)
}

// generated builds what Flux makes of a path without a kustomization: one of all manifests
// below it, where a directory with a kustomization of its own stands for what is below that.
func (t tree) generated(o Order) ([]map[string]any, error) {
	if t.kustomization(o.Path) != "" {
		return t.build(o, o.Path)
	}
	var resources, roots []string
	for _, name := range t.in(o.Path, true) {
		dir := path.Dir(name)
		if slices.ContainsFunc(roots, func(root string) bool { return dir == root || within(dir, root) }) {
			continue
		}
		if root := t.outermost(o.Path, dir); root != "" {
			roots = append(roots, root)
			resources = append(resources, root)
			continue
		}
		if manifest(name) && path.Ext(name) != ".json" && !strings.HasPrefix(path.Base(name), ".") {
			resources = append(resources, name)
		}
	}
	if len(resources) == 0 {
		return nil, fmt.Errorf("%s holds no manifests", path.Clean(o.Path))
	}
	for i, name := range resources {
		rel := strings.TrimPrefix(name, path.Clean(o.Path)+"/")
		resources[i] = rel
	}
	text, err := json.Marshal(types.Kustomization{Resources: resources})
	if err != nil {
		return nil, err
	}
	with := tree{path.Join(o.Path, kustomizationNames[0]): text}
	for name, content := range t {
		with[name] = content
	}
	return with.build(o, o.Path)
}

// outermost is the highest directory from dir up to, and without, top that has a
// kustomization.
func (t tree) outermost(top, dir string) (found string) {
	for ; dir != path.Clean(top) && dir != "." && within(dir, top); dir = path.Dir(dir) {
		if t.kustomization(dir) != "" {
			found = dir
		}
	}
	return found
}

// build runs kustomize on files in memory, with plugins off.
func (t tree) build(o Order, dir string) ([]map[string]any, error) {
	if err := t.local(); err != nil {
		return nil, err
	}
	fs := filesys.MakeFsInMemory()
	for name, content := range t {
		if err := fs.WriteFile("/"+name, content); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	root := path.Join("/", dir)
	if o.Namespace != "" && o.Override {
		// Flux writes its target namespace into the kustomization; one around it says the same.
		root = "/.handrail"
		around, err := json.Marshal(types.Kustomization{Resources: []string{path.Join("..", dir)}, Namespace: o.Namespace})
		if err == nil {
			err = fs.WriteFile(path.Join(root, kustomizationNames[0]), around)
		}
		if err != nil {
			return nil, err
		}
	}
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, root)
	if err != nil {
		return nil, judged(err)
	}
	var out []map[string]any
	for _, r := range made.Resources() {
		m, err := r.Map()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// judged tells what kustomize could do elsewhere from what is wrong.
func judged(err error) error {
	text := err.Error()
	for _, of := range []struct{ sign, why string }{
		{"enable-helm", "a kustomization inflates a Helm chart, and charts are not rendered here"},
		{"external plugins disabled", "a kustomization uses a plugin, and plugins are not run here"},
		{"unable to load external plugins", "a kustomization uses a plugin, and plugins are not run here"},
		{"unable to load builtin", "a kustomization uses a plugin, and plugins are not run here"},
	} {
		if strings.Contains(text, of.sign) {
			return &NotHereError{Why: of.why}
		}
	}
	return errors.New("kustomize: " + text)
}

// loading is what a kustomization names to be loaded, in old spellings too.
type loading struct {
	Resources      []string `yaml:"resources"`
	Bases          []string `yaml:"bases"`
	Components     []string `yaml:"components"`
	Crds           []string `yaml:"crds"`
	Configurations []string `yaml:"configurations"`
	Generators     []string `yaml:"generators"`
	Transformers   []string `yaml:"transformers"`
	Validators     []string `yaml:"validators"`
	Merges         []string `yaml:"patchesStrategicMerge"`

	Patches      []loadingPath     `yaml:"patches"`
	JSONPatches  []loadingPath     `yaml:"patchesJson6902"`
	Replacements []loadingPath     `yaml:"replacements"`
	OpenAPI      map[string]string `yaml:"openapi"`
	ConfigMaps   []loadingPairs    `yaml:"configMapGenerator"`
	Secrets      []loadingPairs    `yaml:"secretGenerator"`

	Charts    []any `yaml:"helmCharts"`
	Inflation []any `yaml:"helmChartInflationGenerator"`
}

type loadingPath struct {
	Path string `yaml:"path"`
}

type loadingPairs struct {
	Files []string `yaml:"files"`
	Envs  []string `yaml:"envs"`
	Env   string   `yaml:"env"`
}

// local refuses, by its name, what a kustomization would fetch or run. What cannot be read
// of one is left to kustomize, which says why.
func (t tree) local() error {
	for name, text := range t {
		if !slices.Contains(kustomizationNames, path.Base(name)) {
			continue
		}
		doc, err := strict.Single(text)
		if err != nil {
			continue
		}
		var k loading
		_ = doc.Decode(&k) // what fits is there all the same
		if len(k.Charts)+len(k.Inflation) > 0 {
			return notHere("%s inflates a Helm chart, and charts are not rendered here", name)
		}
		for _, from := range k.names() {
			// What has several lines is the document itself.
			if !strings.Contains(from, "\n") && remote.MatchString(from) {
				return notHere("%s loads %q, which is remote, and nothing is fetched here", name, from)
			}
		}
	}
	return nil
}

// names are those of all that is loaded.
func (k loading) names() []string {
	out := slices.Concat(k.Resources, k.Bases, k.Components, k.Crds, k.Configurations, k.Generators, k.Transformers, k.Validators, k.Merges)
	for _, p := range slices.Concat(k.Patches, k.JSONPatches, k.Replacements) {
		out = append(out, p.Path)
	}
	out = append(out, k.OpenAPI["path"])
	for _, p := range slices.Concat(k.ConfigMaps, k.Secrets) {
		for _, f := range p.Files {
			if _, from, named := strings.Cut(f, "="); named {
				f = from
			}
			out = append(out, f)
		}
		out = append(append(out, p.Envs...), p.Env)
	}
	return out
}
