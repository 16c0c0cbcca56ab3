package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"handrail/steps/gitread"
)

// TestMain lets this binary render, as handrail does.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Word {
		os.Exit(Child(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func files(of ...string) map[string][]byte {
	out := map[string][]byte{}
	for i := 0; i < len(of); i += 2 {
		out[of[i]] = []byte(of[i+1])
	}
	return out
}

func named(t *testing.T, a Answer) []string {
	t.Helper()
	var out []string
	for _, raw := range a.Objects {
		var o struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
			Data     map[string]string
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s/%s/%s %v", o.Kind, o.Metadata.Namespace, o.Metadata.Name, o.Data), " map[]"))
	}
	slices.Sort(out)
	return out
}

func config(name, key, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {%s: %s}\n", name, key, value)
}

// TestRender renders in a process of its own, as a controller would.
func TestRender(t *testing.T) {
	t.Parallel()
	overlay := files("base/kustomization.yaml", "resources: [a.yaml]\n", "base/a.yaml", config("a", "k", "v"),
		"prod/kustomization.yaml", "namespace: shop\nresources: [../base]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n    data: {k: prod}\n")
	plain := files("app/a.yaml", config("a", "k", "v")+"---\n"+config("b", "k", "w"), "app/sub/c.yml", config("c", "k", "x"), "app/readme.md", "# no manifest",
		"app/list.json", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"}}]}`, "other.yaml", config("top", "k", "v"))
	nested := files("app/a.yaml", config("a", "k", "v"), "app/sub/kustomization.yaml", "namePrefix: p-\nresources: [c.yaml]\n", "app/sub/c.yaml", config("c", "k", "x"), "app/sub/unused.yaml", config("u", "k", "x"))
	for name, of := range map[string]struct {
		o     Order
		files map[string][]byte
		tool  string
		want  []string
	}{
		"an overlay":       {Order{Path: "prod"}, overlay, Kustomize, []string{"ConfigMap/shop/a map[k:prod]"}},
		"its base":         {Order{Path: "base"}, overlay, Kustomize, []string{"ConfigMap//a map[k:v]"}},
		"a directory":      {Order{Path: "./app/"}, plain, Directory, []string{"ConfigMap//a map[k:v]", "ConfigMap//b map[k:w]", "ConfigMap//d"}},
		"all below it":     {Order{Path: "app", Tool: Directory, Recurse: true}, plain, Directory, []string{"ConfigMap//a map[k:v]", "ConfigMap//b map[k:w]", "ConfigMap//c map[k:x]", "ConfigMap//d"}},
		"the top":          {Order{Path: "."}, plain, Directory, []string{"ConfigMap//top map[k:v]"}},
		"as Flux makes it": {Order{Path: "app", Tool: Generated, Namespace: "shop", Override: true}, nested, Generated, []string{"ConfigMap/shop/a map[k:v]", "ConfigMap/shop/p-c map[k:x]"}},
		"Flux at the top":  {Order{Path: ".", Tool: Generated}, nested, Generated, []string{"ConfigMap//a map[k:v]", "ConfigMap//p-c map[k:x]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := Render(t.Context(), self(t), of.o, of.files)
			if err != nil {
				t.Fatal(err)
			}
			if got := named(t, a); !slices.Equal(got, of.want) || a.Tool != of.tool {
				t.Errorf("%s %q, want %s %q", a.Tool, got, of.tool, of.want)
			}
		})
	}
}

// TestPacked renders what the source controller of Flux would have in its artifact.
func TestPacked(t *testing.T) {
	t.Parallel()
	tree := func(more ...string) map[string][]byte {
		return files(append([]string{"app/a.yaml", config("a", "k", "v"), "app/old/b.yaml", config("b", "k", "v"), "app/appveyor.yml", config("ci", "k", "v")}, more...)...)
	}
	for name, of := range map[string]struct {
		ignore string
		files  map[string][]byte
		want   []string
	}{
		"nothing named":            {"", tree(), []string{"a", "b"}},
		"by the top":               {"", tree(".sourceignore", "# not yet\n/app/old/\n"), []string{"a", "ci"}},
		"by its directory":         {"", tree("app/.sourceignore", "/old\n"), []string{"a", "ci"}},
		"of another directory":     {"", tree("other/.sourceignore", "*.yaml\n"), []string{"a", "b", "ci"}},
		"by the source":            {"old/\n", tree(), []string{"a", "ci"}},
		"all but one":              {"/*\n!/app\n/app/*\n!/app/a.yaml\n", tree(), []string{"a"}},
		"the source takes it back": {"!/app/old/b.yaml\n", tree("app/.sourceignore", "b.yaml\n"), []string{"a", "b", "ci"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := Render(t.Context(), self(t), Order{Path: "app", Tool: Generated, Packed: true, Ignore: of.ignore}, of.files)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range named(t, a) {
				got = append(got, strings.TrimSuffix(strings.TrimPrefix(o, "ConfigMap//"), " map[k:v]"))
			}
			if !slices.Equal(got, of.want) {
				t.Errorf("rendered %q, want %q", got, of.want)
			}
		})
	}
}

// TestNotHere: what would be fetched or run, or is not in Git, is refused by its name.
func TestNotHere(t *testing.T) {
	t.Parallel()
	kustomization := func(text string) map[string][]byte { return files("app/kustomization.yaml", text) }
	for want, of := range map[string]map[string][]byte{
		`"https://example.com/base?ref=v1"`:         kustomization("resources: ['https://example.com/base?ref=v1']\n"),
		`"github.com/org/repo//base"`:               kustomization("resources: [github.com/org/repo//base]\n"),
		`"git@git.example.com:org/repo.git"`:        kustomization("bases: ['git@git.example.com:org/repo.git']\n"),
		`"git.example.com/org/repo.git"`:            kustomization("components: [git.example.com/org/repo.git]\n"),
		`"http://example.com/x.yaml"`:               kustomization("configMapGenerator: [{name: x, files: ['k=http://example.com/x.yaml']}]\n"),
		`"https://example.com/openapi"`:             kustomization("openapi: {path: 'https://example.com/openapi'}\n"),
		`"https://example.com/patch"`:               kustomization("patches: [{path: 'https://example.com/patch'}]\n"),
		"inflates a Helm chart":                     kustomization("helmCharts: [{name: x, repo: 'https://example.com'}]\n"),
		"uses a plugin":                             files("app/kustomization.yaml", "generators: [g.yaml]\n", "app/g.yaml", "apiVersion: someteam.example.com/v1\nkind: Generator\nmetadata: {name: x, annotations: {config.kubernetes.io/function: \"exec: {path: ./run}\"}}\n"),
		"is Jsonnet":                                files("app/x.jsonnet", "{}"),
		"is kept in Git LFS":                        files("app/x.yaml", "version https://git-lfs.github.com/spec/v1\n"),
		"changes the parameters of the application": files("app/.argocd-source.yaml", "kustomize: {}\n", "app/kustomization.yaml", "resources: []\n"),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := Render(t.Context(), self(t), Order{Path: "app"}, of)
			var not *NotHereError
			if !errors.As(err, &not) || !strings.Contains(not.Why, want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// TestWrong: what is wrong with manifests is said, and ends nothing.
func TestWrong(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for name, of := range map[string]map[string][]byte{
		"no YAML":        files("app/a.yaml", "a: [\n"),
		"no kind":        files("app/a.yaml", "a: b\n"),
		"a bomb":         files("app/a.yaml", "apiVersion: v1\nkind: ConfigMap\n"+bomb),
		"a bomb in base": files("app/kustomization.yaml", "resources: [a.yaml]\n", "app/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"+bomb),
		"missing":        files("app/kustomization.yaml", "resources: [gone.yaml]\n"),
		"a circle":       files("app/kustomization.yaml", "resources: [../app]\n"),
		"outside":        files("app/kustomization.yaml", "configMapGenerator: [{name: x, files: [/etc/hostname]}]\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := Render(t.Context(), self(t), Order{Path: "app"}, of)
			var not *NotHereError
			if err == nil || errors.As(err, &not) {
				t.Errorf("%v: %.300q", err, a.Objects)
			}
		})
	}
	if _, err := Render(t.Context(), "", Order{Path: "app"}, nil); err == nil {
		t.Error("no program renders")
	}
	if _, err := Render(t.Context(), "/bin/false", Order{Path: "app"}, nil); err == nil || !strings.Contains(err.Error(), "before its answer") {
		t.Errorf("another program: %v", err)
	}
}

// FuzzUnpack: nothing that comes through the pipe makes the process fall, or leaves the tree.
func FuzzUnpack(f *testing.F) {
	var b strings.Builder
	if err := pack(&b, Order{Path: "app"}, files("app/a.yaml", "x")); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(b.String()))
	f.Add([]byte(strings.Replace(b.String(), "files/app/a.yaml", "files/../../etc", 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, got, err := unpack(strings.NewReader(string(raw)))
		for name := range got {
			if err == nil && (strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..")) {
				t.Errorf("%q", name)
			}
		}
	})
}

// TestGather reads what a path is rendered of, and no more, from the objects of a clone.
func TestGather(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = top
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x.invalid")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	put := func(name, text string) {
		t.Helper()
		if dir, _, ok := strings.Cut(name, "/"); ok {
			if err := os.MkdirAll(top+"/"+dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(top+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	put("base/kustomization.yaml", "resources: [a.yaml, ../shared]\n")
	put("base/a.yaml", config("a", "k", "v"))
	put("shared/kustomization.yaml", "resources: [../base]\n")
	put("prod/kustomization.yaml", "resources: [../base, ../../outside]\n")
	put("dev/kustomization.yaml", "resources: [../base]\n")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	first := git("rev-parse", "HEAD")
	c, err := gitread.Open(top)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Gather(t.Context(), c, first, "./prod")
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"base/a.yaml", "base/kustomization.yaml", "prod/kustomization.yaml", "shared/kustomization.yaml"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := Gather(t.Context(), c, first, "gone"); !errors.Is(err, gitread.ErrNoFile) {
		t.Errorf("a path that is not there: %v", err)
	}
	for _, dir := range []string{"../other", ".."} {
		if _, err := Gather(t.Context(), c, first, dir); err == nil {
			t.Errorf("%s is read", dir)
		}
	}
	if err := os.Symlink("a.yaml", top+"/base/link.yaml"); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "two")
	var not *NotHereError
	if _, err := Gather(t.Context(), c, git("rev-parse", "HEAD"), "prod"); !errors.As(err, &not) || !strings.Contains(not.Why, "base/link.yaml is a link") {
		t.Errorf("a link: %v", err)
	}
	// A clone in which a name holds the content of another one.
	good, bad := git("rev-parse", first+":base/a.yaml"), git("rev-parse", first+":dev/kustomization.yaml")
	at := func(sum string) string { return top + "/.git/objects/" + sum[:2] + "/" + sum[2:] }
	raw, err := os.ReadFile(at(bad))
	if err == nil {
		err = errors.Join(os.Chmod(at(good), 0o600), os.WriteFile(at(good), raw, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Gather(t.Context(), c, first, "prod"); err == nil || !strings.Contains(err.Error(), "another content than its name says") {
		t.Errorf("a forged object: %v", err)
	}
}
