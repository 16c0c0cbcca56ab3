package adopt

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

var limits = Object{Kind: "ConfigMap", Namespace: "tills", Name: "limits"}

// edit is one of the object of the tables.
func edit(way string, from, to any) Edit {
	p := strings.Split(way, "/")
	return Edit{Of: limits, Object: "configmap/tills/limits", At: strings.Join(p, "."), Path: p, From: from, To: to}
}

func gone(way string, from any) Edit {
	e := edit(way, from, nil)
	e.Gone = true
	return e
}

func added(way string, to any) Edit {
	e := edit(way, nil, to)
	e.New = true
	return e
}

const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits}\n"

// TestMake: what an edit makes of a file, byte by byte.
func TestMake(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		was  string
		edit Edit
		is   string // "" for what is left
		why  string
	}{
		"quotes stay":            {"data: {daily: '400', single: '150'}\n", edit("data/daily", "400", "4000"), "data: {daily: '4000', single: '150'}\n", ""},
		"double quotes stay":     {"data:\n  daily: \"400\" # by law\n", edit("data/daily", "400", "it's\ttab"), "data:\n  daily: \"it's\\ttab\" # by law\n", ""},
		"a quote in quotes":      {"data:\n  a: 'it''s'\n", edit("data/a", "it's", "that's"), "data:\n  a: 'that''s'\n", ""},
		"plain stays plain":      {"data:\n  image: nginx:1.2   # the web\n  z: 1\n", edit("data/image", "nginx:1.2", "nginx:1.3"), "data:\n  image: nginx:1.3   # the web\n  z: 1\n", ""},
		"what reads as a number": {"data:\n  a: one\n", edit("data/a", "one", "1e3"), "data:\n  a: \"1e3\"\n", ""},
		"what reads as a yes":    {"data:\n  a: one\n", edit("data/a", "one", "On"), "data:\n  a: \"On\"\n", ""},
		"a time of day":          {"data:\n  a: one\n", edit("data/a", "one", "23:00"), "data:\n  a: \"23:00\"\n", ""},
		"an amount":              {"data:\n  cpu: 500m\n", edit("data/cpu", "500m", "750m"), "data:\n  cpu: 750m\n", ""},
		"a hexadecimal number":   {"data:\n  a: one\n", edit("data/a", "one", "0xF"), "data:\n  a: \"0xF\"\n", ""},
		"a number":               {"spec:\n- x\nreplicas: 3\n", edit("replicas", 3, 5), "spec:\n- x\nreplicas: 5\n", ""},
		"a truth":                {"paused: false\n", edit("paused", false, true), "paused: true\n", ""},
		"nothing becomes text":   {"data:\n  a:\n  b: x\n", edit("data/a", nil, "v"), "data:\n  a: v\n  b: x\n", ""},
		"ends of lines stay":     {"data:\r\n  a: x\r\n  b: y\r\n", edit("data/b", "y", "z"), "data:\r\n  a: x\r\n  b: z\r\n", ""},
		"without an end":         {"data:\n  a: x", edit("data/a", "x", "z"), "data:\n  a: z", ""},
		"wide characters":        {"data: {ä: 'größer', b: x}\n", edit("data/b", "x", "z"), "data: {ä: 'größer', b: z}\n", ""},
		"a block":                {"data:\n  f: |\n    a\n    b\n\n    c\n  z: 1\n", edit("data/f", "a\nb\n\nc\n", "a\nB\n\nc\n"), "data:\n  f: |\n    a\n    B\n\n    c\n  z: 1\n", ""},
		"a block at the end":     {"data:\n  f: |- # keep\n    a\n    b\n", edit("data/f", "a\nb", "a\nb\nc\n"), "data:\n  f: | # keep\n    a\n    b\n    c\n", ""},
		"a folded block":         {"data:\n  f: >-\n    a\n    b\n  z: 1\n", edit("data/f", "a b", "a\nc"), "data:\n  f: |-\n    a\n    c\n  z: 1\n", ""},
		"a block becomes short":  {"data:\n  f: |\n    a\n    b\n  z: 1\n", edit("data/f", "a\nb\n", "x"), "data:\n  f: x\n  z: 1\n", ""},
		"short becomes a block":  {"data:\n  f: x # why\n  z: 1\n", edit("data/f", "x", "a\nb\n"), "data:\n  f: | # why\n    a\n    b\n  z: 1\n", ""},
		"a block in brackets":    {"data: {f: x}\n", edit("data/f", "x", "a\nb\n"), "data: {f: \"a\\nb\\n\"}\n", ""},
		"an item by name":        {"c:\n  - name: web\n    image: a\n  - name: side\n    image: b\n", edit("c/[name=side]/image", "b", "x"), "c:\n  - name: web\n    image: a\n  - name: side\n    image: x\n", ""},
		"an item by place":       {"p:\n- port: 1\n- port: 2\n", edit("p/[1]/port", 2, 3), "p:\n- port: 1\n- port: 3\n", ""},
		"a list":                 {"args:\n  # the first\n  - --a\n  - --b=1 # why\n  - --c\nz: 1\n", edit("args", []any{"--a", "--b=1", "--c"}, []any{"--a", "--b=2", "--c", "--d"}), "args:\n  # the first\n  - --a\n  - --b=2 # why\n  - --c\n  - --d\nz: 1\n", ""},
		"a list that shrinks":    {"args:\n- a\n- b\n- c\n", edit("args", []any{"a", "b", "c"}, []any{"a", "c"}), "args:\n- a\n- c\n", ""},
		"a list in brackets":     {"args: [a, b, 'c']\n", edit("args", []any{"a", "b", "c"}, []any{"b", "d"}), "args: [b, d]\n", ""},
		"a list grows in front":  {"args: [b]\n", edit("args", []any{"b"}, []any{"a", "b"}), "args: [a, b]\n", ""},
		"an entry goes":          {"data:\n  a: x # gone too\n  b: y\n", gone("data/a", "x"), "data:\n  b: y\n", ""},
		"the last entry goes":    {"data:\n  a: x\n", gone("data/a", "x"), "data:\n  {}\n", ""},
		"a block goes":           {"data:\n  f: |\n    a\n    b\n  b: y\n", gone("data/f", "a\nb\n"), "data:\n  b: y\n", ""},
		"an entry of brackets":   {"data: {a: x, b: y}\n", gone("data/b", "y"), "data: {a: x}\n", ""},
		"the first of brackets":  {"data: {a: x, b: y}\n", gone("data/a", "x"), "data: {b: y}\n", ""},
		"the only of brackets":   {"data: {a: x}\n", gone("data/a", "x"), "data: {}\n", ""},
		"an item goes":           {"c:\n  - name: web\n    env: {x: [1]}\n  - name: side\n", gone("c/[name=web]", nil), "c:\n  - name: side\n", ""},
		"the first of an item":   {"c:\n  - image: a\n    name: web\n", gone("c/[name=web]/image", "a"), "c:\n  - name: web\n", ""},
		"a new entry":            {"data:\n  a: x\n  # end\nz: 1\n", added("data/b", "v"), "data:\n  a: x\n  b: v\n  # end\nz: 1\n", ""},
		"a new block":            {"data:\n  a: x\n", added("data/b", "y\nz\n"), "data:\n  a: x\n  b: |\n    y\n    z\n", ""},
		"a new entry at the end": {"data:\n  a: x", added("data/b", "v"), "data:\n  a: x\n  b: v", ""},
		"a new one in nothing":   {"data: {a: x}\n", added("data/b/c", "v"), "", "does not have the field"},
		"a new key with a dot":   {"data: {a: x}\n", added("data/a.b", "v"), "data: {a: x, a.b: v}\n", ""},
		"a new one in none":      {"data: {}\n", added("data/b", "on"), "data: {b: \"on\"}\n", ""},

		"plain over lines": {"data:\n  a: one\n    two\n", edit("data/a", "one two", "z"), "", "several lines"},
		"an anchor":        {"data:\n  a: &x one\n  b: *x\n", edit("data/a", "one", "z"), "", "anchor"},
		"an alias":         {"x: &x one\ndata:\n  b: *x\n", edit("data/b", "one", "z"), "", "alias"},
		"a merge key":      {"x: &x {a: one}\ndata:\n  <<: *x\n", edit("data/a", "one", "z"), "", "merge key"},
		"a key twice":      {"data:\n  a: one\n  a: one\n", edit("data/a", "one", "z"), "", "twice"},
		"a tag":            {"data:\n  a: !!str 1\n", edit("data/a", "1", "z"), "", "form"},
		"another value":    {"data:\n  a: two\n", edit("data/a", "one", "z"), "", "another value"},
		"no such field":    {"data:\n  b: two\n", edit("data/a", "one", "z"), "", "does not have the field"},
		"SOPS":             {"data:\n  a: one\nsops: {mac: x}\n", edit("data/a", "one", "z"), "", "SOPS"},
		"the object twice": {"data: {a: one}\n---\n" + head + "data: {a: one}\n", edit("data/a", "one", "z"), "", "twice"},
		"a lone return":    {"data:\n  a: \"x\ry\"\n  b: z\n", edit("data/b", "z", "y"), "", "form"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := "# Others.\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n---\n"
			files := map[string][]byte{"app/x.yaml": []byte(other + head + tc.was), "app/y.yaml": []byte(other)}
			c := Make("c", files, []Edit{tc.edit})
			if tc.is == "" {
				if len(c.Files)+len(c.Taken) > 0 || len(c.Left) != 1 || !strings.Contains(c.Left[0].Why, tc.why) || c.Digest() != "" {
					t.Errorf("%v, %v, want what is left with %q", c.Taken, c.Left, tc.why)
				}
				return
			}
			if len(c.Files) != 1 || len(c.Left) > 0 || len(c.Taken) != 1 {
				t.Fatalf("%v, left %v", c.Taken, c.Left)
			}
			if d := cmp.Diff(other+head+tc.is, string(c.Files[0].Is)); d != "" {
				t.Error(d)
			}
			applies(t, c, files)
		})
	}
}

// applies has git apply the patch, which must make the files of the change.
func applies(t testing.TB, c Change, files map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(c.Patch())
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, c.Patch())
	}
	for name, want := range c.With(files) {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s after git apply: %v\n%q, want\n%q", name, err, got, want)
		}
	}
}

// TestManyEdits: edits of several objects and files come into one patch, and items go by their place from the end.
func TestManyEdits(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"app/a \"ä\".yaml": []byte(head + "data:\n  a: one\n" + strings.Repeat("  # x\n", 20) + "  b: two\nports:\n- port: 1\n- port: 2\n- port: 3\n"),
		"app/list.json":    []byte("{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"List\",\n  \"items\": [\n    {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"json\"},\n     \"data\": {\n       \"a\": \"x\"\n     }}\n  ]\n}"),
	}
	of := func(e Edit) Edit {
		e.Of.Name = "json"
		return e
	}
	cut := gone("ports/[1]", nil)
	c := Make("c", files, []Edit{edit("data/a", "one", "1"), edit("data/b", "two", "2"), cut, cut, gone("ports/[2]", nil), of(edit("data/a", "x", "y<z")), of(added("data/b", "new")),
		{Of: Object{Kind: "Secret", Name: "limits"}, Object: "secret/limits", At: "data.x"}})
	if len(c.Files) != 2 || len(c.Taken) != 7 || len(c.Left) != 1 || c.Left[0].String() != "secret/limits data.x: a Secret is not written to Git" {
		t.Fatalf("%v\n%v\n%s", c.Taken, c.Left, c.Patch())
	}
	if text := string(c.Files[1].Is); !strings.Contains(text, "\"a\": \"y<z\",\n       \"b\": \"new\"\n") {
		t.Error(text)
	}
	if text := string(c.Files[0].Is); !strings.HasSuffix(text, "ports:\n- port: 1\n") {
		t.Error(text)
	}
	applies(t, c, files)
	text := c.Text("argocd application argocd/shop")
	for _, want := range []string{"# argocd application argocd/shop: ", "- `configmap/tills/limits` `data.a`: `\"one\"` -> `\"1\"`\n", "- `secret/limits` `data.x`: a Secret is not written to Git\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if len(c.Digest()) != 64 {
		t.Error(c.Digest())
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	o := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a.b/c": "x", "a": map[string]any{"b/c": "y"}, "d.e": "z"}},
		"c": []any{map[string]any{"name": "web", "args": []any{"x"}}}, "p": []any{map[string]any{"port": 1}}}
	for at, want := range map[string]string{"metadata.annotations.d.e": "metadata|annotations|d.e", "metadata.annotations.a.b/c": "", "c[name=web].args": "c|[name=web]|args", "c[name=web].args[0]": "c|[name=web]|args|[0]", "p[0].port": "p|[0]|port", "p[1].port": "", "none": ""} {
		if got := strings.Join(Path(o, at), "|"); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
	for way, want := range map[string]string{"metadata|x|y": "metadata|x", "c|[name=web]|args": "c|[name=web]|args", "c|[name=side]|args": "c|[name=side]", "p|[1]|port": "p|[1]", "p|[0]|x": "p|[0]|x"} {
		if got := strings.Join(Cut(o, strings.Split(way, "|")), "|"); got != want {
			t.Errorf("%s is cut to %s, want %s", way, got, want)
		}
	}
}

// plainly decodes a file by itself.
func plainly(src []byte) (docs []any, err error) {
	for d := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, v)
	}
}
