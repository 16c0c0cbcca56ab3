package strict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"handrail/steps/strict"
)

type answer struct {
	Value string `key:"value,required,short"`
	Why   string `key:"why"`
}

type limits struct {
	Least int `key:"least"  range:"0 9"`
	Most  int `key:"most" range:"0 9"`
}

func (l *limits) Check(r *strict.Reader, n *yaml.Node) {
	if l.Least > l.Most {
		r.Fail(strict.At(n, "most"), "", "most is less than least")
	}
}

type sample struct {
	Name    string            `key:"name,required" as:"name" hint:"as in name: a"`
	Pace    time.Duration     `key:"pace"`
	On      bool              `key:"on"`
	Rate    *int              `key:"rate" range:"-1 5"`
	Ops     []string          `key:"ops" of:"operation" oneof:"CREATE UPDATE"`
	Lines   [][]string        `key:"lines" of:"a line"`
	Grants  map[string]string `key:"grants" each:"name" of:"an account"`
	Answers map[string]answer `key:"answers"`
	Limits  []limits          `key:"limits" of:"a limit"`
}

func read(src string) (sample, error) {
	var out sample
	r := &strict.Reader{File: "f", What: "a sample", Forms: map[string]strict.Form{
		"name": func(r *strict.Reader, n *yaml.Node, what string) any { return "<" + r.Text(n, what) + ">" },
	}}
	err := r.Envelope([]byte("apiVersion: handrail/v1\nkind: Sample\n"+src), "Sample", &out)
	return out, err
}

func TestStruct(t *testing.T) {
	t.Parallel()
	got, err := read(`
name: a
pace: 90s
on: true
rate: -1
ops: [CREATE]
lines: [[a, b], [c]]
grants: {vhost: me}
answers: {a: yes it is, b: {value: no, why: because}}
limits: [{least: 1, most: 2}]
`)
	rate := -1
	want := sample{Name: "<a>", Pace: 90 * time.Second, On: true, Rate: &rate, Ops: []string{"CREATE"}, Lines: [][]string{{"a", "b"}, {"c"}},
		Grants: map[string]string{"vhost": "<me>"}, Answers: map[string]answer{"a": {Value: "yes it is"}, "b": {"no", "because"}}, Limits: []limits{{1, 2}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Envelope() = %v, -want +got:\n%s", err, diff)
	}
}

func TestStructRefuses(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"pace: 1s":                               `f:1:1: name is missing (as in name: a)`,
		"name: a\nnmae: b":                       `f:4:1: a sample has no key "nmae" (did you mean "name"?)`,
		"name: a\npace: 0s":                      `f:4:7: pace must be a duration above zero`,
		"name: a\non: yes":                       `f:4:5: on must be true or false, not "yes"`,
		"name: a\nrate: 6":                       `f:4:7: rate must be a whole number from -1 to 5, not "6"`,
		"name: a\nops: [CREATE, DELETE]":         `f:4:15: operation cannot be "DELETE"`,
		"name: a\nops: CREATE":                   `f:4:6: ops must be a list`,
		"name: a\nlines: [[[a]]]":                `f:4:10: a line must be a text`,
		"name: a\ngrants: [a]":                   `f:4:9: grants must be a mapping of names to values`,
		"name: a\ngrants: {v: [a]}":              `f:4:13: an account must be a text`,
		"name: a\nanswers: {q: {why: x}}":        `f:4:14: value is missing`,
		"name: a\nlimits: [{leest: 1}]":          `f:4:11: a limit has no key "leest" (did you mean "least"?)`,
		"name: a\nlimits: [{least: 2, most: 1}]": `f:4:27: most is less than least`,
		"name: ''":                               `f:3:7: name is empty`,
	} {
		if _, err := read(src); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
	if _, err := read("kind: x"); err == nil {
		t.Error("a second kind was let in")
	}
	var out sample
	err := (&strict.Reader{File: "f", What: "a sample"}).Envelope([]byte("kind: Simple\npace: 1s\n"), "Sample", &out)
	want := `f:1:1: name is missing (as in name: a)
f:1:1: apiVersion is missing (write apiVersion: handrail/v1)
f:1:7: kind cannot be "Simple" (did you mean "Sample"?)`
	if err == nil || err.Error() != want {
		t.Errorf("Envelope() = %v, want %s", err, want)
	}
}
