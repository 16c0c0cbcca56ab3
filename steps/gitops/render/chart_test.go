package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

const meta = "apiVersion: v2\nname: shop\nversion: 0.1.0\n"

// one is a template of a ConfigMap with these lines of data.
func one(name string, data ...string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata:\n  " + strings.Join(data, "\n  ") + "\n"
}

func charted(more ...string) map[string][]byte {
	out := files("app/Chart.yaml", meta, "app/values.yaml", "colour: green\nsize: 1\n")
	maps.Copy(out, files(more...))
	return out
}

func helm(c Chart) Order { return Order{Tool: Helm, Path: "app", Chart: &c} }

// TestChart renders charts in a process of its own, as `helm template` does.
func TestChart(t *testing.T) {
	t.Parallel()
	colour := one("c", "k: {{ .Values.colour | quote }}", "size: {{ .Values.size | toJson | quote }}")
	plain := charted("app/templates/c.yaml", colour, "app/prod.yaml", "colour: red\n", "values/top.yaml", "colour: blue\n")
	for name, of := range map[string]struct {
		o     Order
		files map[string][]byte
		want  []string
	}{
		"by the path":             {Order{Path: "app"}, plain, []string{"ConfigMap//c map[k:green size:1]"}},
		"a file":                  {helm(Chart{Files: []string{"prod.yaml"}}), plain, []string{"ConfigMap//c map[k:red size:1]"}},
		"from the top":            {helm(Chart{Files: []string{"prod.yaml", "/values/top.yaml"}}), plain, []string{"ConfigMap//c map[k:blue size:1]"}},
		"above it":                {helm(Chart{Files: []string{"../values/top.yaml"}}), plain, []string{"ConfigMap//c map[k:blue size:1]"}},
		"one that is missing":     {helm(Chart{Files: []string{"gone.yaml"}, IgnoreMissing: true}), plain, []string{"ConfigMap//c map[k:green size:1]"}},
		"texts after files":       {helm(Chart{Files: []string{"prod.yaml"}, Values: []string{"colour: pink\nsize: 2", "size: 3"}}), plain, []string{"ConfigMap//c map[k:pink size:3]"}},
		"parameters last":         {helm(Chart{Values: []string{"colour: pink"}, Parameters: []Parameter{{"colour", "x", false}, {"colour", "a,b", false}, {"size", "7", true}}}), plain, []string{`ConfigMap//c map[k:a,b size:"7"]`}},
		"files for its defaults":  {helm(Chart{Files: []string{"app/prod.yaml"}, Defaults: true}), plain, []string{"ConfigMap//c map[k:red size:null]"}},
		"release and cluster":     {helm(Chart{Release: "r", Namespace: "ns", KubeVersion: "1.33.1", APIVersions: []string{"x.io/v1"}}), charted("app/templates/c.yaml", one("{{ .Release.Name }}", "ns: {{ .Release.Namespace }}", "v: {{ .Capabilities.KubeVersion }}", "has: {{ .Capabilities.APIVersions.Has \"x.io/v1\" | quote }}", "i: {{ .Release.IsInstall | quote }}")), []string{"ConfigMap//r map[has:true i:true ns:ns v:v1.33.1]"}},
		"of a revision":           {helm(Chart{Suffix: "abc"}), charted("app/templates/c.yaml", one("c", "v: {{ .Chart.Version }}")), []string{"ConfigMap//c map[v:0.1.0+abc]"}},
		"definitions":             {helm(Chart{}), charted("app/crds/x.yaml", one("x", "k: v")), []string{"ConfigMap//x map[k:v]"}},
		"without definitions":     {helm(Chart{SkipCRDs: true}), charted("app/crds/x.yaml", one("x", "k: v"), "app/templates/c.yaml", "# none\n"), nil},
		"tests left out":          {helm(Chart{SkipTests: true}), charted("app/templates/c.yaml", "kind: Pod\napiVersion: v1\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n"), nil},
		"what it ignores":         {helm(Chart{}), charted("app/.helmignore", "*.bak\nold/\n", "app/templates/c.yaml", colour, "app/templates/d.yaml.bak", "{{", "app/templates/old/e.yaml", "{{"), []string{"ConfigMap//c map[k:green size:1]"}},
		"notes and partials":      {helm(Chart{}), charted("app/templates/_h.tpl", "{{ define \"h\" }}x{{ end }}", "app/templates/NOTES.txt", "{{ .Values.colour }}", "app/templates/c.yaml", one("c", "k: {{ include \"h\" . }}")), []string{"ConfigMap//c map[k:x]"}},
		"included with a dict":    {helm(Chart{}), charted("app/templates/d.yaml", "{{/* {{ .nothing }} */}}\n", "app/templates/c.yaml", one("c", `k: {{ include (print $.Template.BasePath "/d.yaml") (dict "a" 1) | trim | quote }}`)), []string{"ConfigMap//c map[k:]"}},
		"a chart in it":           {helm(Chart{Values: []string{"sub: {colour: red}"}}), charted("app/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "app/charts/sub/templates/c.yaml", one("s", "k: {{ .Values.colour }}")), []string{"ConfigMap//s map[k:red]"}},
		"one under two names":     {helm(Chart{}), charted("app/Chart.yaml", meta+"dependencies: [{name: sub, version: 1.0.0, alias: a}, {name: sub, version: 1.0.0, alias: b}]\n", "app/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "app/charts/sub/templates/c.yaml", one("{{ .Chart.Name }}", "k: v")), []string{"ConfigMap//a map[k:v]", "ConfigMap//b map[k:v]"}},
		"packed in it":            {helm(Chart{}), charted("app/charts/sub-1.0.0.tgz", packed(t, "sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "sub/templates/c.yaml", one("s", "k: v"))), []string{"ConfigMap//s map[k:v]"}},
		"a second name for none":  {helm(Chart{}), charted("app/templates/c.yaml", "---\n\n---\n# nothing\n"), nil},
		"what no template caught": {helm(Chart{}), charted("app/templates/c.yaml", one("c", `k: {{ lookup "v1" "Secret" "a" "b" | toJson | quote }}`)), []string{"ConfigMap//c map[k:{}]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := Render(t.Context(), self(t), of.o, of.files)
			if err != nil {
				t.Fatal(err)
			}
			if got := named(t, a); !slices.Equal(got, of.want) || a.Tool != Helm || !strings.HasPrefix(a.Version, "0.1.0") {
				t.Errorf("%s %s %q, want %q", a.Tool, a.Version, got, of.want)
			}
		})
	}
}

func packed(t *testing.T, of ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(of); i += 2 {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: of[i], Mode: 0o600, Size: int64(len(of[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(of[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestChance: what chance, the clock, the number of a revision or the cluster decides is not said; what stands
// beside it is.
func TestChance(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		`.Values.colour`: "same", `printf "%d" (int .Values.size)`: "same", `dict "a" 1 "b" 2 | toJson | quote`: "same", `buildCustomCert "YQ==" "Yg==" | toJson | quote`: "same",
		`randAlphaNum 1`: "varies", `randNumeric 1 | quote`: "varies", `randAlpha 3`: "varies", `randAscii 3`: "varies", `randBytes 3`: "varies", `randInt 0 2 | quote`: "varies", `randInt 1 2 | quote`: "same",
		`now | date "2006" | quote`: "varies", `now | unixEpoch | quote`: "varies", `date "01" now | quote`: "varies", `ago now | quote`: "same", `shuffle "abc"`: "varies", `shuffle "a"`: "same",
		`uuidv4`: "varies", `genPrivateKey "rsa"`: "varies", `(genCA "x" 1).Cert`: "varies", `(genSignedCert "x" nil nil 1 (genCA "x" 1)).Key`: "varies", `(genSelfSignedCert "x" (list) (list) 1).Cert`: "varies",
		`htpasswd "u" "p" | quote`: "varies", `bcrypt "p"`: "varies", `encryptAES "k" "v"`: "varies", `keys (dict "a" 1 "b" 2) | toJson | quote`: "varies", `keys (dict "a" 1 "b" 2) | sortAlpha | toJson | quote`: "same", `values (dict "a" 1 "b" 2) | toJson | quote`: "varies",
		`lookup "v1" "Secret" "a" "b" | toJson | quote`: "asks the cluster", `tpl "{{ lookup \"v1\" \"Secret\" \"a\" \"b\" | toJson | quote }}" .`: "asks the cluster", `include "h" . | quote`: "asks the cluster",
		`getHostByName "localhost" | quote`: "same", `.Release.Revision | quote`: "same",
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			a := inTest(t, helm(Chart{}), "app/templates/_h.tpl", `{{ define "h" }}{{ lookup "v1" "Secret" "a" "b" }}{{ end }}`, "app/templates/c.yaml", one("c", "k: {{ "+call+" }}"), "app/templates/d.yaml", one("d", "k: v"))
			got := "same"
			switch {
			case a.Unsaid[0] != "":
				got = a.Unsaid[0]
			case a.Varies[0] != nil:
				got = "varies"
			}
			if !strings.Contains(got, want) || a.Unsaid[1] != "" || a.Varies[1] != nil || len(a.made) != 2 {
				t.Errorf("%s, want %s: %v", got, want, a)
			}
		})
	}
	if a := inTest(t, helm(Chart{Upgrades: true}), "app/templates/c.yaml", one("c", "k: {{ .Release.IsUpgrade | quote }}")); a.Varies[0] == nil {
		t.Errorf("a chart that tells an upgrade from an install: %v", a)
	}
	if a := inTest(t, helm(Chart{}), "app/templates/c.yaml", one("c-{{ randAlpha 3 | lower }}", "k: v")); !strings.Contains(a.Unsaid[0], "other objects") {
		t.Errorf("a name by chance: %v", a)
	}
	_, err := tree(charted("app/templates/c.yaml", "{{ if eq (randAlpha 1) \"b\" }}"+one("c", "k: v")+"{{ end }}")).chart(helm(Chart{}))
	if not := (*NotHereError)(nil); !errors.As(err, &not) {
		t.Errorf("an object by chance: %v", err)
	}
}

func inTest(t *testing.T, o Order, more ...string) Answer {
	t.Helper()
	a, err := tree(charted(more...)).chart(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestChartRefused: what would be fetched is refused by its name; what is wrong is said, and ends
// nothing.
func TestChartRefused(t *testing.T) {
	t.Parallel()
	for want, of := range map[string]struct {
		o     Chart
		files map[string][]byte
		not   bool
	}{
		`its dependency "redis" is not in charts/ of the commit: it would come from oci://x.example`: {Chart{}, charted("app/Chart.yaml", meta+"dependencies: [{name: redis, version: 1.x, repository: 'oci://x.example'}]\n"), true},
		`"https://example.com/v.yaml" is remote`:                                                     {Chart{Files: []string{"https://example.com/v.yaml"}}, charted(), true},
		`"oci:v" is remote`:                                                                          {Chart{Files: []string{"oci:v"}}, charted(), true},
		`"*.yaml" is a pattern`:                                                                      {Chart{Files: []string{"*.yaml"}}, charted(), true},
		`leaves the repository`:                                                                      {Chart{Files: []string{"../../etc/passwd"}}, charted(), false},
		`"/../x" leaves the repository`:                                                              {Chart{Files: []string{"/../x"}}, charted(), false},
		`"app/gone.yaml" is not in the commit`:                                                       {Chart{Files: []string{"gone.yaml"}}, charted(), false},
		`app/v.yaml is no YAML of values`:                                                            {Chart{Files: []string{"v.yaml"}}, charted("app/v.yaml", "- hunter2\n"), false},
		`parameter "a[b]" cannot be set`:                                                             {Chart{Parameters: []Parameter{{Name: "a[b]", Value: "hunter2"}}}, charted(), false},
		`refers to what is elsewhere`:                                                                {Chart{}, charted("app/values.schema.json", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref": "https://example.com/x.json"}`), true},
		`refers to what is elsewhere `:                                                               {Chart{}, charted("app/values.schema.json", `{"$ref": "file:///etc/passwd"}`), true},
		`  refers to what is elsewhere`:                                                              {Chart{}, charted("app/values.schema.json", `{"properties":{"a":{"\u0024ref": "x"}}}`), true},
		`refers to what is elsewhere  `:                                                              {Chart{}, charted("app/values.schema.json", `{"$schema": "https://example.com/meta"}`), true},
		`are not as values.schema.json wants them: /colour`:                                          {Chart{}, charted("app/values.schema.json", `{"properties":{"colour":{"type":"number"}}}`), false},
		`the chart needs Kubernetes >= 9.0.0`:                                                        {Chart{KubeVersion: "1.33.0"}, charted("app/Chart.yaml", meta+"kubeVersion: '>= 9.0.0'\n"), false},
		`version "x" of Kubernetes`:                                                                  {Chart{KubeVersion: "x"}, charted(), false},
		`is a library`:                                                                               {Chart{}, charted("app/Chart.yaml", meta+"type: library\n"), false},
		`Chart.yaml file is missing`:                                                                 {Chart{}, files("app/a.yaml", ""), false},
		`parse error`:                                                                                {Chart{}, charted("app/templates/c.yaml", "{{ if }}"), false},
		`no colour`:                                                                                  {Chart{}, charted("app/templates/c.yaml", `{{ fail "no colour" }}`), false},
		`function "env" not defined`:                                                                 {Chart{}, charted("app/templates/c.yaml", `{{ env "HOME" }}`), false},
		`has no kind`:                                                                                {Chart{}, charted("app/templates/c.yaml", "a: b"), false},
		`is kept in Git LFS`:                                                                         {Chart{}, charted("app/files/x", "version https://git-lfs.github.com/spec/v1\n"), true},
		`nested reference name`:                                                                      {Chart{}, charted("app/templates/c.yaml", `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`), false},
		`characters by chance`:                                                                       {Chart{}, charted("app/templates/c.yaml", `{{ randAlpha 2000000000 }}`), false},
		`error unpacking subchart`:                                                                   {Chart{}, charted("app/charts/x.tgz", "no archive"), false},
		`double-star`:                                                                                {Chart{}, charted("app/.helmignore", "**/x\n"), false},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := tree(of.files).chart(helm(of.o))
			var not *NotHereError
			if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) || errors.As(err, &not) != of.not || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestChartBounds: a chart that takes all memory or never ends takes nothing but its own
// process.
func TestChartBounds(t *testing.T) {
	t.Parallel()
	endless := "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}"
	for name, of := range map[string]struct{ text, want string }{
		"all memory": {`{{ $x := "0123456789012345678901234567890123456789" }}{{ range until 40 }}{{ $x = print $x $x }}{{ end }}`, "of memory"},
		"too much":   {"{{ range until 200000 }}" + one("c{{ . }}", `k: "{{ repeat 400 "x" }}"`) + "---\n{{ end }}", "makes more than 32 MiB"},
		"no end":     {endless, context.DeadlineExceeded.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if of.text == endless {
				ctx, cancel = context.WithTimeout(ctx, time.Second)
			}
			defer cancel()
			_, err := Render(ctx, self(t), helm(Chart{}), charted("app/templates/c.yaml", of.text))
			if err == nil || !strings.Contains(err.Error(), of.want) {
				t.Errorf("%.300v", err)
			}
		})
	}
}

// FuzzChartValues: no values, parameters and names of files make the process fall, and no
// file is taken from outside of the repository.
func FuzzChartValues(f *testing.F) {
	f.Add("a: b", "a.b[0]", "x,y", "values.yaml")
	f.Add("a: &a [*a]", "a[99999999]", "{a,b}", "../../x")
	f.Add("{}", "a\\.b", "null", "/../..//x")
	f.Fuzz(func(t *testing.T, text, name, value, file string) {
		if at, err := ValueFile("app", file); err == nil && (strings.HasPrefix(at, "/") || slices.Contains(strings.Split(at, "/"), "..")) {
			t.Errorf("%q is at %q", file, at)
		}
		of := Chart{Values: []string{text}, Parameters: []Parameter{{Name: name, Value: value}, {Name: name, Value: value, ForceString: true}}}
		made, err := tree(charted()).load("app")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := tree(charted()).values("app", of, made); err == nil && out == nil {
			t.Errorf("no values of %q", text)
		}
	})
}

// TestMisfitsQuoteNoValue: a value that its schema refuses is named by its place alone.
func TestMisfitsQuoteNoValue(t *testing.T) {
	t.Parallel()
	schema := `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"colour":{"type":"string","pattern":"^[0-9]+$"},"db":{"properties":{"password":{"maxLength":3}}}}}`
	in := charted("app/values.schema.json", schema, "app/values.yaml", "colour: hunter2\ndb: {password: correct-horse}\n", "app/templates/c.yaml", one("c", "k: v"))
	_, err := Render(t.Context(), self(t), helm(Chart{}), in)
	if err == nil {
		t.Fatal("it was rendered")
	}
	for text, want := range map[string]bool{"/colour": true, "/db/password": true, "hunter2": false, "correct-horse": false} {
		if strings.Contains(err.Error(), text) != want {
			t.Errorf("%q in the error: %v, want %v: %v", text, !want, want, err)
		}
	}
}
