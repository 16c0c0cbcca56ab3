package fieldpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	smd "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps/kube/fieldpath"
)

func TestParse(t *testing.T) {
	t.Parallel()
	item := func(s string) fieldpath.Step { return fieldpath.Step{Item: &s} }
	name := func(s string) fieldpath.Step { return fieldpath.Step{Name: s} }
	for text, want := range map[string]fieldpath.Path{
		"":                          nil,
		"spec":                      {name("spec")},
		".spec.replicas":            {name("spec"), name("replicas")},
		`data.tls\.crt`:             {name("data"), name("tls.crt")},
		`data["a]b=c"]`:             {name("data"), name("a]b=c")},
		"metadata.labels[a.b/c]":    {name("metadata"), name("labels"), {Name: "a.b/c", Loose: true}},
		"c[name=app].image":         {name("c"), {Keys: []fieldpath.Pair{{Name: "name", Value: "app"}}}, name("image")},
		"p[port=80,protocol=TCP]":   {name("p"), {Keys: []fieldpath.Pair{{Name: "port", Value: "80"}, {Name: "protocol", Value: "TCP"}}}},
		`e[name="a],b"]`:            {name("e"), {Keys: []fieldpath.Pair{{Name: "name", Value: "a],b"}}}},
		"metadata.finalizers[=a/b]": {name("metadata"), name("finalizers"), item("a/b")},
		"a[0][1]":                   {name("a"), {Name: "0", Loose: true}, {Name: "1", Loose: true}},
	} {
		got, err := fieldpath.Parse(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("Parse(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{".", "a.", "a..b", "a[", "a[]", "a[b", "a[b=", "a[=", "a]b", `a["b]`, `a"b"`, "a[b]c", `a\`, "a\x00", "a\xff", `a[""]`, "a[=x", "[a=b,=c]",
		strings.Repeat("a.", 101) + "a", strings.Repeat("a", 3000)} {
		if got, err := fieldpath.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		}
	}
}

const deployment = `{
	"metadata":{"labels":{"app":"shop","app.kubernetes.io/name":"shop"},"finalizers":["example.com/a","example.com/b"]},
	"data":{"redis-host":"10.0.0.1","tls.crt":"x"},
	"spec":{"replicas":3,"args":["a","b"],"containers":[
		{"name":"init","image":"i:1","ports":[{"containerPort":80,"protocol":"TCP"}]},
		{"name":"app","image":"a:1","ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":80,"protocol":"UDP"}]}]}}`

const owned = `{
	"f:metadata":{"f:labels":{".":{},"f:app":{}},"f:finalizers":{".":{},"v:\"example.com/a\"":{}}},
	"f:data":{".":{},"f:tls.crt":{}},
	"f:roleRef":{},
	"f:spec":{"f:replicas":{},"f:args":{},"f:containers":{".":{},"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:image":{},
		"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{}}}}}}}`

func TestHeld(t *testing.T) {
	t.Parallel()
	var object map[string]any
	if err := json.Unmarshal([]byte(deployment), &object); err != nil {
		t.Fatal(err)
	}
	var set smd.Set
	if err := set.FromJSON(strings.NewReader(owned)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text    string
		as      string // the path as it lies there, "" for text
		present bool
		value   any
		want    fieldpath.Hold
	}{
		{"", "", true, nil, fieldpath.Hold{Below: true}},
		{"spec", "", true, nil, fieldpath.Hold{Below: true}},
		{"spec.replicas", "", true, 3.0, fieldpath.Hold{Exact: true}},
		{"metadata.labels", "", true, nil, fieldpath.Hold{Exact: true, Below: true}},
		{"metadata.labels[app]", "metadata.labels.app", true, "shop", fieldpath.Hold{Exact: true}},
		{"metadata.labels[app.kubernetes.io/name]", "metadata.labels[\"app.kubernetes.io/name\"]", true, "shop", fieldpath.Hold{}},
		{"metadata.labels[gone]", "metadata.labels.gone", false, nil, fieldpath.Hold{}},
		{"metadata.finalizers[example.com/a]", "metadata.finalizers[example.com/a]", true, "example.com/a", fieldpath.Hold{Exact: true}},
		{"metadata.finalizers[1]", "", true, "example.com/b", fieldpath.Hold{}},
		{"metadata.finalizers[=gone]", "", false, nil, fieldpath.Hold{}},
		{"data.tls.crt", `data["tls.crt"]`, true, "x", fieldpath.Hold{Exact: true}},
		{"data.redis-host", "", true, "10.0.0.1", fieldpath.Hold{}},
		{"data.not.there", `data["not.there"]`, false, nil, fieldpath.Hold{}},
		{"spec.containers[name=app].image", "", true, "a:1", fieldpath.Hold{Exact: true}},
		{"spec.containers[1].image", "spec.containers[name=app].image", true, "a:1", fieldpath.Hold{Exact: true}},
		{"spec.containers[0].image", "spec.containers[name=init].image", true, "i:1", fieldpath.Hold{}},
		{"spec.containers[name=gone].image", "", false, nil, fieldpath.Hold{}},
		{"spec.containers[name=app].ports[containerPort=80,protocol=UDP].containerPort", "", true, 80.0, fieldpath.Hold{Exact: true}},
		{"spec.containers[name=app].ports[containerPort=80,protocol=TCP].containerPort", "", true, 80.0, fieldpath.Hold{}},
		{"spec.args[0]", "", true, "a", fieldpath.Hold{Above: 2}},
		{"roleRef.name", "", false, nil, fieldpath.Hold{Above: 1}},
	} {
		p, err := fieldpath.Parse(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		pl, err := p.In(object)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		if tc.as == "" {
			tc.as = tc.text
		}
		if pl.Path.String() != tc.as || pl.Present != tc.present || tc.value != nil && pl.Value != tc.value {
			t.Errorf("%q lies at %q, present %v, %v, want %q, %v, %v", tc.text, pl.Path, pl.Present, pl.Value, tc.as, tc.present, tc.value)
		}
		if got := pl.Held(&set); got != tc.want {
			t.Errorf("%q: Held() = %+v, want %+v", tc.text, got, tc.want)
		}
	}
	for _, text := range []string{"spec.containers.image", "spec.containers[app].image", "spec.containers[name=app].ports[containerPort=80]", "metadata[name=x]"} {
		p, err := fieldpath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if pl, err := p.In(object); err == nil {
			t.Errorf("%q lies at %v, want an error", text, pl)
		}
	}
	for pointer, want := range map[string]string{"/spec/containers/1/image": "spec.containers[name=app].image", "/metadata/labels/app.kubernetes.io~1name": `metadata.labels["app.kubernetes.io/name"]`,
		"/metadata/finalizers/-": "metadata.finalizers[-]", "/spec/args/0": "spec.args[0]"} {
		p, err := fieldpath.Pointer(pointer)
		if err != nil {
			t.Fatal(err)
		}
		if pl, err := p.In(object); err != nil || pl.Path.String() != want {
			t.Errorf("%q lies at %q, %v, want %q", pointer, pl.Path, err, want)
		}
	}
}

// Whatever is owned is found by the name that it is told by.
func TestOwnedFieldsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	var object map[string]any
	if err := json.Unmarshal([]byte(deployment), &object); err != nil {
		t.Fatal(err)
	}
	var set smd.Set
	if err := set.FromJSON(strings.NewReader(owned)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for p := range set.All() {
		n++
		text := fieldpath.Of(p).String()
		again, err := fieldpath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		pl, err := again.In(object)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if h := pl.Held(&set); !h.Exact {
			t.Errorf("%s: Held() = %+v, want it exact", text, h)
		}
	}
	if n < 10 {
		t.Errorf("%d fields", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"spec.replicas", `data.tls\.crt`, `a["b]c"].d`, "c[name=app,x=y][0][=v]", "a[\"x\"=y]"} {
		f.Add(s)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(deployment), &object); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := fieldpath.Parse(text)
		if err != nil {
			return
		}
		again, err := fieldpath.Parse(p.String())
		if err != nil || !cmp.Equal(again, p) {
			t.Fatalf("%q is %v, written %q, read again %v, %v", text, p, p.String(), again, err)
		}
		if pl, err := p.In(object); err == nil && len(pl.Path) > len(p) {
			t.Fatalf("%q lies at %q", text, pl.Path)
		}
	})
}
