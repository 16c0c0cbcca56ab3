package object

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, old, new string
		want           []string
		only           bool // one finalizer "x" less and nothing else
	}{
		{"equal", `{"a":1}`, `{"a":1}`, nil, false},
		{"one item less", `{"metadata":{"finalizers":["a","x","b"]}}`, `{"metadata":{"finalizers":["a","b"]}}`, []string{`- metadata.finalizers[1]: "x"`}, true},
		{"the last item", `{"metadata":{"finalizers":["x"]}}`, `{"metadata":{}}`, []string{`- metadata.finalizers[0]: "x"`}, true},
		{"another item", `{"metadata":{"finalizers":["y"]}}`, `{"metadata":{}}`, []string{`- metadata.finalizers[0]: "y"`}, false},
		{"two items", `{"metadata":{"finalizers":["x","y"]}}`, `{"metadata":{}}`, []string{`- metadata.finalizers[0]: "x"`, `- metadata.finalizers[1]: "y"`}, false},
		{"an item swapped", `{"metadata":{"finalizers":["x"]}}`, `{"metadata":{"finalizers":["y"]}}`, []string{`- metadata.finalizers[0]: "x"`, `+ metadata.finalizers[0]: "y"`}, false},
		{"another field too", `{"metadata":{"finalizers":["x"]},"spec":{"n":1}}`, `{"metadata":{},"spec":{"n":2}}`, []string{`- metadata.finalizers[0]: "x"`, "- spec.n: 1", "+ spec.n: 2"}, false},
		{"noise", `{"metadata":{"resourceVersion":"1","generation":1,"managedFields":[{}]}}`, `{"metadata":{"resourceVersion":"2","generation":2}}`, nil, false},
		{"noise is noise in its place only", `{"spec":{"generation":1}}`, `{"spec":{"generation":2}}`, []string{"- spec.generation: 1", "+ spec.generation: 2"}, false},
		{"large numbers", `{"n":9007199254740993}`, `{"n":9007199254740992}`, []string{"- n: 9007199254740993", "+ n: 9007199254740992"}, false},
		{"a list that appears empty", `{"spec":{}}`, `{"spec":{"ingress":[]}}`, []string{"+ spec.ingress: []"}, false},
		{"null and absent", `{"a":null}`, `{}`, nil, false},
		{"keys with dots", `{"metadata":{"labels":{"a.b/c":"1"}}}`, `{"metadata":{"labels":{}}}`, []string{`- metadata.labels["a.b/c"]: "1"`}, false},
		{"control characters", `{"a":"\u001b[2J"}`, `{}`, []string{`- a: "\u001b[2J"`}, false},
		{"a long value that appears", `{}`, `{"metadata":{"generation":1,"labels":{"app.kubernetes.io/name":"parcels","role":"worker"},"name":"topology-reconcile"}}`,
			[]string{`+ metadata.labels: {"app.kubernetes.io/name":"parcels","role":"worker"}`, `+ metadata.name: "topology-reconcile"`}, false},
		{"a long item less", `{"spec":{"containers":[{"name":"a","args":["first of the arguments","second of the arguments","the third one"]}]}}`, `{"spec":{"containers":[]}}`,
			[]string{`- spec.containers[0].args[0]: "first of the arguments"`, `- spec.containers[0].args[1]: "second of the arguments"`, `- spec.containers[0].args[2]: "the third one"`, `- spec.containers[0].name: "a"`}, false},
		{"a map becomes a word", `{"a":{"b":1}}`, `{"a":"b"}`, []string{`- a: {"b":1}`, `+ a: "b"`}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cs, err := Diff([]byte(tc.old), []byte(tc.new))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, cs.Lines(false)); d != "" {
				t.Error(d)
			}
			if cs.OnlyFinalizer("x") != tc.only {
				t.Errorf("only() = %t", cs.OnlyFinalizer("x"))
			}
		})
	}
	cs, err := Diff([]byte(`{"data":{"password":"aHVudGVy"},"metadata":{"finalizers":["x"]}}`), []byte(`{"data":{},"metadata":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"- data.password: (hidden)", `- metadata.finalizers[0]: "x"`}, cs.Lines(true)); d != "" {
		t.Error(d)
	}
}

// FuzzDiff holds a diff to be empty exactly where nothing but noise differs.
func FuzzDiff(f *testing.F) {
	f.Add(`{"metadata":{"uid":"a","finalizers":["a","b"]}}`, `{"metadata":{"uid":"a","finalizers":["b"]}}`)
	f.Add(`{"kind":"Status","status":"Failure","message":"no","code":422}`, `null`)
	f.Add(`{"a":[1,[2,{"b":null}]]}`, `{"a":[[2],1]}`)
	f.Fuzz(func(t *testing.T, old, new string) {
		cs, err := Diff([]byte(old), []byte(new))
		if err != nil {
			return
		}
		for _, line := range cs.Lines(false) {
			if strings.ContainsAny(line, "\x00\x1b\r\n") {
				t.Fatalf("a line holds control characters: %q", line)
			}
		}
		if self, err := Diff([]byte(old), []byte(old)); err != nil || len(self) > 0 {
			t.Fatalf("an object differs from itself: %v, %v", self, err)
		}
		back, err := Diff([]byte(new), []byte(old))
		if err != nil || (len(back) == 0) != (len(cs) == 0) {
			t.Fatalf("%d changes forward, %d back, %v", len(cs), len(back), err)
		}
	})
}
