package patch

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const deployment = `{"metadata":{"labels":{"a/b":"c"}},"spec":{"replicas":2,"containers":[{"name":"side","image":"s:1"},{"name":"app","image":"a:1"}],"args":["x","y"],"twice":["x","x"]}}`

func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	m, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestResolveAndApply(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ ops, resolved, tests, after string }{
		{`[{op: replace, path: /spec/replicas, value: 3}]`, `[{"op":"replace","path":"/spec/replicas","value":3}]`, `[{"op":"test","path":"/spec/replicas","value":2}]`, `"replicas":3`},
		{`[{op: replace, path: "/spec/containers/[name=app]/image", value: "a:2"}]`, `[{"op":"replace","path":"/spec/containers/1/image","value":"a:2"}]`,
			`[{"op":"test","path":"/spec/containers/1/name","value":"app"},{"op":"test","path":"/spec/containers/1/image","value":"a:1"}]`, `"image":"a:2"`},
		{`[{op: replace, path: /spec/containers/0/image, value: "s:2"}]`, `[{"op":"replace","path":"/spec/containers/0/image","value":"s:2"}]`,
			`[{"op":"test","path":"/spec/containers/0/name","value":"side"},{"op":"test","path":"/spec/containers/0/image","value":"s:1"}]`, `"image":"s:2"`},
		{`[{op: add, path: /metadata/labels/a~1b, value: d}]`, `[{"op":"add","path":"/metadata/labels/a~1b","value":"d"}]`, `[{"op":"test","path":"/metadata/labels/a~1b","value":"c"}]`, `"a/b":"d"`},
		{`[{op: add, path: /spec/args/-, value: z}, {op: add, path: /spec/args/-, value: w}]`, `[{"op":"add","path":"/spec/args/-","value":"z"},{"op":"add","path":"/spec/args/-","value":"w"}]`,
			`[{"op":"test","path":"/spec/args","value":["x","y"]}]`, `["x","y","z","w"]`},
		{`[{op: remove, path: /spec/args/0}]`, `[{"op":"remove","path":"/spec/args/0"}]`, `[{"op":"test","path":"/spec/args/0","value":"x"}]`, `"args":["y"]`},
		{`[{op: remove, path: "/spec/args/[=y]"}]`, `[{"op":"remove","path":"/spec/args/1"}]`, `[{"op":"test","path":"/spec/args/1","value":"y"}]`, `"args":["x"]`},
		{`[{op: add, path: /spec/paused, value: true}]`, `[{"op":"add","path":"/spec/paused","value":true}]`, `null`, `"paused":true`},
	} {
		doc := decoded(t, deployment)
		ops, err := Parse(tc.ops)
		if err != nil {
			t.Fatal(err)
		}
		resolved, tests, err := Resolve(doc, ops)
		if err != nil {
			t.Errorf("%s: %v", tc.ops, err)
			continue
		}
		if got, err := Encode(resolved); err != nil || got != tc.resolved {
			t.Errorf("%s: resolved %s, %v", tc.ops, got, err)
		}
		if got, err := Encode(tests); err != nil || got != tc.tests {
			t.Errorf("%s: tests %s, %v", tc.ops, got, err)
		}
		after, err := Apply(doc, resolved)
		raw, _ := json.Marshal(after)
		if err != nil || !strings.Contains(string(raw), tc.after) {
			t.Errorf("%s: after %s, %v", tc.ops, raw, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for ops, why := range map[string]string{
		`{}`:                                    "not a list",
		`[]`:                                    "not a list",
		`[1]`:                                   "not an operation",
		`[{op: move, path: /a}]`:                "not one of add, replace and remove",
		`[{op: test, path: /a, value: 1}]`:      "not one of add, replace and remove",
		`[{op: add, path: /a}]`:                 "value of the add is missing",
		`[{op: remove, path: /a, value: 1}]`:    "has no value",
		`[{op: add, path: /a, value: null}]`:    "use remove",
		`[{op: add, path: a, value: 1}]`:        "begin with a slash",
		`[{op: add, path: "", value: 1}]`:       "begin with a slash",
		`[{op: add, path: /, value: 1}]`:        "empty part",
		`[{op: add, path: /a~2, value: 1}]`:     "neither ~0 nor ~1",
		`[{op: add, path: /a, value: 1, x: 1}]`: "not a member",
		`[{op: add, path: /a, value: 1}, {op: remove, path: /a/b}]`:                  "write each field once",
		`[{op: remove, path: /a/0}, {op: remove, path: /a/1}]`:                       "write each field once",
		`[{op: remove, path: /a/0}, {op: replace, path: "/a/[name=b]/c", value: 1}]`: "write each field once",
		`[` + strings.Repeat(`{op: remove, path: /a},`, 51) + `]`:                    "more than 50",
	} {
		if got, err := Parse(ops); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Parse(%s) = %v, %v, want %q", ops, got, err, why)
		}
	}
	for ops, why := range map[string]string{
		`[{op: replace, path: /spec/none, value: 1}]`:                           "nothing at this path",
		`[{op: remove, path: /spec/args/5}]`:                                    "no item 5",
		`[{op: remove, path: /spec/args/-}]`:                                    "end of a list",
		`[{op: add, path: /spec/none/deep, value: 1}]`:                          "there is no /spec/none yet",
		`[{op: add, path: /spec/replicas/deep, value: 1}]`:                      "no map and no list",
		`[{op: replace, path: "/spec/containers/[name=no]/image", value: 1}]`:   "no item has name",
		`[{op: remove, path: "/spec/args/[=z]"}]`:                               "no item has the value",
		`[{op: remove, path: "/spec/twice/[=x]"}]`:                              "more than one item has the value",
		`[{op: remove, path: "/spec/containers/[=app]"}]`:                       "no item has the value",
		`[{op: replace, path: "/spec/containers/app/image", value: 1}]`:         "addresses no item",
		`[{op: replace, path: "/spec/containers/01/image", value: 1}]`:          "addresses no item",
		`[{op: replace, path: "/spec/containers/[image=x]/image", value: "x"}]`: "no item has image",
	} {
		parsed, err := Parse(ops)
		if err != nil {
			t.Fatalf("%s: %v", ops, err)
		}
		if got, _, err := Resolve(decoded(t, deployment), parsed); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Resolve(%s) = %v, %v, want %q", ops, got, err, why)
		}
	}
}

// TestCounted: an item of a list that comes or goes by its index, and nothing else, leaves
// an object from which it cannot be told whether that was done.
func TestCounted(t *testing.T) {
	t.Parallel()
	for ops, want := range map[string]bool{
		`[{op: remove, path: /spec/args/0}]`:                                   true,
		`[{op: add, path: /spec/args/0, value: w}]`:                            true,
		`[{op: remove, path: "/spec/containers/[name=app]/ports/0"}]`:          true,
		`[{op: replace, path: /spec/args/0, value: w}]`:                        false,
		`[{op: remove, path: "/spec/args/[=x]"}]`:                              false,
		`[{op: add, path: /spec/args/-, value: w}]`:                            false,
		`[{op: remove, path: /data/0}]`:                                        false,
		`[{op: replace, path: "/spec/containers/[name=app]/image", value: i}]`: false,
		`[{op: remove, path: /spec/none/0}]`:                                   false,
	} {
		parsed, err := Parse(ops)
		if err != nil {
			t.Fatal(err)
		}
		doc := decoded(t, `{"data":{"0":"a"},"spec":{"args":["x"],"containers":[{"name":"app","ports":[1]}]}}`)
		if got := Counted(doc, parsed[0]); got != want {
			t.Errorf("Counted(%s) = %v", ops, got)
		}
	}
}

// TestInverse: what a patch changed its inverse changes back, to the letter, and
// neither touches the object that it is given.
func TestInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		doc := genMap(r, 3)
		before, _ := json.Marshal(doc)
		var ops []Op
		for range rapid.IntRange(1, 4).Draw(r, "operations") {
			path, v := anyPath(r, doc)
			op := Op{rapid.SampledFrom([]string{Add, Replace, Remove}).Draw(r, "op"), path, v}
			overlap := false
			for _, o := range ops {
				overlap = overlap || Overlap(o.Path, op.Path)
			}
			if !overlap {
				ops = append(ops, op)
			}
		}
		resolved, tests, err := Resolve(doc, ops)
		if err != nil {
			r.Skip("it does not fit")
		}
		for _, test := range tests {
			if got, ok := Get(doc, test.Path); !ok || !reflect.DeepEqual(got, test.Value) {
				r.Fatalf("the test of %s does not hold: %v, want %v", test.Path, got, test.Value)
			}
		}
		after, err := Apply(doc, resolved)
		if err != nil {
			r.Fatalf("Apply() = %v for what was resolved", err)
		}
		back, err := Inverse(doc, resolved)
		if err != nil {
			r.Fatalf("Inverse() = %v", err)
		}
		again, err := Apply(after, back)
		if err != nil {
			r.Fatalf("Apply(Inverse()) = %v", err)
		}
		got, _ := json.Marshal(again)
		now, _ := json.Marshal(doc)
		if string(got) != string(before) || string(now) != string(before) {
			r.Fatalf("%s\nbecame %s\nand the object %s", before, got, now)
		}
		text, err := Encode(resolved)
		if err != nil {
			r.Fatal(err)
		}
		var read []Op
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			r.Fatalf("%s: %v", text, err)
		}
		if twice, err := Encode(read); err != nil || twice != text {
			r.Fatalf("%s became %s, %v", text, twice, err)
		}
	})
}

func genMap(r *rapid.T, depth int) map[string]any {
	out := map[string]any{}
	for range rapid.IntRange(1, 3).Draw(r, "members") {
		out[rapid.SampledFrom([]string{"a", "b", "c/d", "~", "name"}).Draw(r, "key")] = genValue(r, depth-1)
	}
	return out
}

func genValue(r *rapid.T, depth int) any {
	if depth > 0 {
		switch rapid.IntRange(0, 3).Draw(r, "sort") {
		case 0:
			return genMap(r, depth)
		case 1:
			var list []any
			for range rapid.IntRange(0, 3).Draw(r, "items") {
				list = append(list, genValue(r, depth-1))
			}
			if list == nil {
				list = []any{}
			}
			return list
		}
	}
	return rapid.SampledFrom([]any{"x", "<&>", true, json.Number("3")}).Draw(r, "leaf")
}

// anyPath is a path into doc, or just beside it.
func anyPath(r *rapid.T, doc map[string]any) (string, any) {
	var at any = doc
	var segs []string
	for {
		var next []string
		switch v := at.(type) {
		case map[string]any:
			for _, key := range []string{"a", "b", "c/d", "~", "name"} {
				if _, ok := v[key]; ok {
					next = append(next, key)
				}
			}
			next = append(next, "new")
		case []any:
			next = []string{"-", "0", "1"}
		}
		if len(next) == 0 || len(segs) > 0 && rapid.Bool().Draw(r, "stop") {
			break
		}
		seg := rapid.SampledFrom(next).Draw(r, "segment")
		segs = append(segs, seg)
		var ok bool
		if at, ok = Get(at, Join([]string{seg})); !ok {
			break
		}
	}
	return Join(segs), genValue(r, 2)
}

// FuzzParse: nothing that is taken can address the whole object, or change in
// being written.
func FuzzParse(f *testing.F) {
	f.Add(`[{op: replace, path: "/spec/containers/[name=a/b]/image", value: x}]`)
	f.Add(`[{"op":"add","path":"/a/-","value":{"b":[1,null]}},{"op":"remove","path":"/c~1d"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		ops, err := Parse(text)
		if err != nil {
			return
		}
		for _, op := range ops {
			segs, err := Split(op.Path)
			if err != nil || len(segs) == 0 {
				t.Fatalf("%q was taken: %v", op.Path, err)
			}
		}
		said, err := Encode(ops)
		if err != nil {
			t.Fatal(err)
		}
		var again []Op
		if err := json.Unmarshal([]byte(said), &again); err != nil {
			t.Fatalf("%s: %v", said, err)
		}
		if twice, err := Encode(again); err != nil || twice != said {
			t.Fatalf("%s became %s, %v", said, twice, err)
		}
		if _, _, err := Resolve(map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a"}}}}, ops); err != nil {
			return
		}
	})
}
