package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	semver "github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	valuesutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"helm.sh/helm/v4/pkg/ignore"
)

// chart renders a chart as `helm template` does, twice: what is made by chance, by the clock or by
// how often it was installed comes out otherwise the second time, and nothing can be said of it.
func (t tree) chart(o Order) (a Answer, err error) {
	var of Chart
	if o.Chart != nil {
		of = *o.Chart
	}
	caps, err := of.capabilities()
	if err != nil {
		return a, err
	}
	now := time.Now()
	var rounds [2]rendering
	for i := range rounds {
		// Anew for each: a template may write into its values.
		made, values, err := t.prepared(o.Path, of, caps)
		if err != nil {
			return a, err
		}
		a.Version = made.Metadata.Version
		r := newRound(now, i)
		marked(made, r.mark, map[*common.File]bool{})
		if rounds[i], err = of.once(made, values, caps, r); err != nil {
			if i > 0 {
				err = notHere("a second rendering of the chart fails, so that it makes something else each time: %v", err)
			}
			return a, err
		}
	}
	return answered(a, rounds[0], rounds[1])
}

// prepared is a chart with its values, as it is rendered.
func (t tree) prepared(dir string, of Chart, caps *common.Capabilities) (*chart.Chart, map[string]any, error) {
	made, err := t.load(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := of.fit(made); err != nil {
		return nil, nil, err
	}
	values, err := t.values(dir, of, made)
	if err != nil {
		return nil, nil, err
	}
	if err := chartutil.ProcessDependencies(made, values); err != nil {
		return nil, nil, fmt.Errorf("helm: %w", err)
	}
	if needs := made.Metadata.KubeVersion; needs != "" && !chartutil.IsCompatibleRange(needs, caps.KubeVersion.Version) {
		return nil, nil, fmt.Errorf("helm: the chart needs Kubernetes %s, and this is %s", needs, caps.KubeVersion.Version)
	}
	if name := remoteSchema(made); name != "" && !of.SkipSchema {
		return nil, nil, notHere("the values.schema.json of chart %s refers to what is elsewhere, and nothing is fetched here", name)
	}
	return made, values, nil
}

// load reads a chart from the tree, as Helm reads a directory.
func (t tree) load(dir string) (*chart.Chart, error) {
	rules := ignore.Empty()
	if text, ok := t[path.Join(dir, ignore.HelmIgnore)]; ok {
		var err error
		if rules, err = ignore.Parse(bytes.NewReader(text)); err != nil {
			return nil, fmt.Errorf("helm: %s: %w", path.Join(dir, ignore.HelmIgnore), err)
		}
	}
	rules.AddDefaults()
	var files []*archive.BufferedFile
	for _, name := range t.in(dir, true) {
		rel := strings.TrimPrefix(name, path.Clean(dir)+"/")
		if ignored(rules, rel) {
			continue
		}
		if bytes.HasPrefix(t[name], []byte("version https://git-lfs.")) {
			return nil, notHere("%s is kept in Git LFS, and not in the clone", name)
		}
		files = append(files, &archive.BufferedFile{Name: rel, Data: bytes.TrimPrefix(bytes.Clone(t[name]), []byte("\xef\xbb\xbf"))})
	}
	made, err := loader.LoadFiles(files)
	switch {
	case err != nil:
		return nil, fmt.Errorf("helm: %w", err)
	case strings.EqualFold(made.Metadata.Type, "library"):
		return nil, fmt.Errorf("helm: %s is a library, which cannot be installed", made.Name())
	}
	for _, needs := range made.Metadata.Dependencies {
		if !slices.ContainsFunc(made.Dependencies(), func(c *chart.Chart) bool { return c.Name() == needs.Name }) {
			return nil, notHere("its dependency %q is not in charts/ of the commit: it would come from %s, and nothing is fetched here", needs.Name, cmp.Or(needs.Repository, "elsewhere"))
		}
	}
	return made, nil
}

// entry is a file or a directory, for rules of .helmignore.
type entry struct {
	name string
	dir  bool
}

func (e entry) Name() string { return e.name }
func (e entry) Size() int64  { return 0 }
func (e entry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir
	}
	return 0
}
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) IsDir() bool        { return e.dir }
func (e entry) Sys() any           { return nil }

// ignored reports whether the rules leave a file out, by itself or by a directory above it.
func ignored(rules *ignore.Rules, name string) bool {
	for i, c := range name {
		if c == '/' && rules.Ignore(name[:i], entry{path.Base(name[:i]), true}) {
			return true
		}
	}
	return rules.Ignore(name, entry{path.Base(name), false})
}

// fit gives the chart what its controller gives it before it is rendered.
func (of Chart) fit(made *chart.Chart) error {
	if of.Suffix == "" {
		return nil
	}
	v, err := semver.NewVersion(made.Metadata.Version)
	if err != nil {
		return fmt.Errorf("helm: version %q of the chart: %w", made.Metadata.Version, err)
	}
	with, err := v.SetMetadata(of.Suffix)
	if err != nil {
		return fmt.Errorf("helm: version %q of the chart: %w", made.Metadata.Version, err)
	}
	made.Metadata.Version = with.String()
	return nil
}

func (of Chart) capabilities() (*common.Capabilities, error) {
	caps := common.DefaultCapabilities.Copy()
	caps.APIVersions = slices.Concat(caps.APIVersions, of.APIVersions)
	if of.KubeVersion != "" {
		v, err := common.ParseKubeVersion(of.KubeVersion)
		if err != nil {
			return nil, fmt.Errorf("helm: version %q of Kubernetes: %w", of.KubeVersion, err)
		}
		caps.KubeVersion = *v
	}
	return caps, nil
}

// remoteSchema is the name of the chart whose schema is not all in one file, "" for none.
func remoteSchema(c *chart.Chart) string {
	var schema any
	if json.Unmarshal(c.Schema, &schema) == nil && loads(schema) { // what is no JSON is refused by Helm
		return c.Name()
	}
	for _, below := range c.Dependencies() {
		if name := remoteSchema(below); name != "" {
			return name
		}
	}
	return ""
}

// known are the drafts of JSON Schema that the library has.
var known = regexp.MustCompile(`^https?://json-schema\.org/(?:draft-0[467]|draft/20(?:19-09|20-12))/schema#?$`)

// loads reports whether a schema stands on another document.
func loads(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, loads)
	case map[string]any:
		for key, below := range v {
			text, is := below.(string)
			switch {
			case is && (key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef") && !strings.HasPrefix(text, "#"), is && key == "$schema" && !known.MatchString(text):
				return true
			case loads(below):
				return true
			}
		}
	}
	return false
}

// rendering is what one rendering made: documents by the file that they come from.
type rendering struct {
	by   map[string][]map[string]any
	asks map[string]bool // files that ask the cluster
}

// once renders the chart one time.
func (of Chart) once(made *chart.Chart, values map[string]any, caps *common.Capabilities, r *round) (rendering, error) {
	opts := common.ReleaseOptions{Name: of.Release, Namespace: of.Namespace, Revision: 1, IsInstall: true}
	if of.Upgrades && r.n > 0 {
		opts.Revision, opts.IsInstall, opts.IsUpgrade = 2, false, true
	}
	with, err := valuesutil.ToRenderValuesWithSchemaValidation(made, values, opts, caps, true)
	if err != nil {
		return rendering{}, fmt.Errorf("helm: %w", err)
	}
	if given, ok := with["Values"].(common.Values); ok && !of.SkipSchema {
		if err := valuesutil.ValidateAgainstSchema(made, given); err != nil {
			return rendering{}, fmt.Errorf("helm: the values are not as values.schema.json wants them%s", misfits(err))
		}
	}
	texts, err := engine.Engine{CustomTemplateFuncs: r.functions()}.Render(made, with)
	if err != nil {
		return rendering{}, fmt.Errorf("helm: %w", err)
	}
	size := 0
	for _, text := range texts {
		if size += len(text); size > MostBytes {
			return rendering{}, fmt.Errorf("helm: the chart makes more than %d MiB", MostBytes>>20)
		}
	}
	out := rendering{by: map[string][]map[string]any{}, asks: r.asks}
	take := func(name string, text []byte) error {
		objects, err := Documents(name, text)
		if err != nil {
			return fmt.Errorf("helm: what the chart makes is wrong: %w", err)
		}
		for _, o := range objects {
			if !of.SkipTests || !test(o) {
				out.by[name] = append(out.by[name], o)
			}
		}
		return nil
	}
	if !of.SkipCRDs {
		for _, crd := range made.CRDObjects() {
			if err := take(crd.Filename, crd.File.Data); err != nil {
				return out, err
			}
		}
	}
	for name, text := range texts {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		if err := take(name, []byte(text)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// place is where a value stands that does not fit, in the words of the library.
var place = regexp.MustCompile(`(?m)^\s*- at '(/[^'\n]*)':`)

// misfits names where values do not fit their schema. The library's own words quote them.
func misfits(err error) string {
	var at []string
	for _, m := range place.FindAllStringSubmatch(err.Error(), 20) {
		if !slices.Contains(at, m[1]) {
			at = append(at, m[1])
		}
	}
	if len(at) == 0 {
		return ""
	}
	return ": " + strings.Join(at, ", ")
}

// test reports whether an object is a test of its chart alone.
func test(o map[string]any) bool {
	meta, _ := o["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	of, _ := notes["helm.sh/hook"].(string)
	return slices.ContainsFunc(strings.Split(of, ","), func(one string) bool {
		one = strings.TrimSpace(one)
		return one == "test" || one == "test-success"
	})
}

// answered holds two renderings against each other.
func answered(a Answer, first, second rendering) (Answer, error) {
	a.Varies, a.Unsaid = map[int]map[string]any{}, map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(first.by)) {
		one, two := first.by[name], second.by[name]
		for i, o := range one {
			at := len(a.made)
			a.made = append(a.made, o)
			switch {
			case first.asks[name] || second.asks[name]:
				a.Unsaid[at] = fmt.Sprintf("its template %s asks the cluster (lookup), and is not answered here", name)
			case len(one) != len(two) || title(o) != title(two[i]):
				a.Unsaid[at] = fmt.Sprintf("its template %s makes other objects at each rendering", name)
			case !alike(o, two[i]):
				a.Varies[at] = two[i]
			}
		}
	}
	for name := range second.by {
		if len(first.by[name]) == 0 {
			return a, notHere("%s makes objects at some renderings and none at others", name)
		}
	}
	return a, nil
}

func title(o map[string]any) string {
	meta, _ := o["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v %v %v", o["apiVersion"], o["kind"], meta["namespace"], meta["name"])
}
