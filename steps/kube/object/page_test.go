package object

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps/cluster"
)

// readTable is a page as the probe reads it.
func readTable(raw []byte) (names []string, rows [][]string, md cluster.ListMeta, err error) {
	t := &tableReader{}
	t.row = func(name string, cells []string) error {
		names, rows = append(names, name), append(rows, slices.Clone(cells))
		return nil
	}
	md, err = t.page(raw)
	return names, rows, md, err
}

func readItems(raw []byte) (items []item, md cluster.ListMeta, err error) {
	r := &metadataReader{each: func(it item) error { items = append(items, it); return nil }}
	md, err = r.page(raw)
	return items, md, err
}

func TestTablePage(t *testing.T) {
	t.Parallel()
	names, rows, md, err := readTable([]byte(` {"kind":"Table","metadata":{"continue":"c","remainingItemCount":7},
		"columnDefinitions":[{"name":"Name","format":"name"},{"name":"N"},{"name":"X"}],
		"rows":[{"cells":["a\u00e9\n",1,null],"object":null,"conditions":[{"a":[{}]}]},{"object":{},"cells":["\"b\\",true,{"k":[1,-2.5e3]}]}]} `))
	if err != nil || md.Continue != "c" || md.RemainingItemCount == nil || *md.RemainingItemCount != 7 {
		t.Fatalf("page = %+v, %v", md, err)
	}
	if diff := cmp.Diff([]string{"aé\n", `"b\`}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"aé\n", "1", ""}, {`"b\`, "true", `{"k":[1,-2.5e3]}`}}, rows); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenPages(t *testing.T) {
	t.Parallel()
	const head = `{"columnDefinitions":[{"name":"Name"}],"rows":`
	deep := strings.Repeat("[", 10_000)
	for _, raw := range []string{
		``, `null`, `[]`, `7`, `{}`, `{"rows":[]}`, `{"columnDefinitions":[{"name":"Name"}]}`, `{"kind":"ConfigMapList","items":[]}`,
		head, head + `[`, head + `[{]}`, head + `[{"cells":["a"]}`, head + `[{"cells":["a"]}]`, head + `[{"cells":["a"]},]}`, head + `[{"cells":["a"]}]}}`,
		head + `[{"cells":["a","b"]}]}`, head + `[{}]}`, head + `[{"cells":[nul]}]}`, head + `[{"cells":["a]}]}`, head + "[{\"cells\":[\"a\n\"]}]}",
		head + `[],"rows":[]}`, head + `{}}`, head + `[],"metadata":[]}`, head + `[],"x":` + deep + `}`, head + deep,
		`{"columnDefinitions":[],"rows":[]}`, `{"columnDefinitions":7,"rows":[]}`,
	} {
		if names, _, _, err := readTable([]byte(raw)); err == nil {
			t.Errorf("%.80s was read as a table: %q", raw, names)
		}
	}
	for _, raw := range []string{
		``, `{}`, `{"items":{}}`, `{"items":[{}]}`, `{"items":[{"metadata":{"name":"a"}}]}`, `{"items":[{"metadata":{"uid":"a"}}]}`, `{"items":[{"metadata":[]}]}`,
		`{"items":[{"metadata":{"name":7,"uid":"u"}}]}`, `{"items":[{"metadata":{"name":"a","uid":"u","finalizers":"none"}}]}`, `{"items":[null]}`,
	} {
		if items, _, err := readItems([]byte(raw)); err == nil {
			t.Errorf("%s was read as metadata: %+v", raw, items)
		}
	}
	if _, err := (cluster.NewScanner([]byte(deep))).Value(); err == nil || errors.Is(err, cluster.ErrJSON) {
		t.Errorf("ten thousand brackets = %v, want a bound", err)
	}
}

func TestDigestWantsOrder(t *testing.T) {
	t.Parallel()
	sum := func(names ...string) *listSum {
		l := newListSum()
		for _, n := range names {
			if err := l.add(item{Name: n, UID: "u" + n}); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	if l := sum("a", "b"); l.why != "" {
		t.Error(l.why)
	}
	for _, l := range []*listSum{sum("b", "a"), sum("a", "a")} {
		if l.why == "" {
			t.Error("a list out of order has a digest")
		}
	}
	if sum("a").hex() == sum("b").hex() {
		t.Error("two lists have one digest")
	}
}

// FuzzPages: outside bytes never panic; what is valid JSON and is read as a page
// has the names that encoding/json finds in it.
func FuzzPages(f *testing.F) {
	f.Add([]byte(`{"kind":"Table","metadata":{"continue":"c"},"columnDefinitions":[{"name":"Name","format":"name"},{"name":"Age"}],"rows":[{"cells":["a",1]},{"cells":["b",null],"object":null}]}`))
	f.Add([]byte(`{"kind":"PartialObjectMetadataList","metadata":{"remainingItemCount":3},"items":[{"metadata":{"name":"a","uid":"u","labels":{"a":"b"},"finalizers":["x/y"],"managedFields":[{"fieldsV1":{"f:a":{}}}]}}]}`))
	f.Add([]byte(`{"rows":[{"cells":["\ud800"]}],"columnDefinitions":[{"name":"n"}]}`))
	f.Add([]byte(`{"items":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, rows, _, terr := readTable(raw)
		items, _, ierr := readItems(raw)
		if !json.Valid(raw) {
			return
		}
		var all map[string]any
		if json.Unmarshal(raw, &all) != nil {
			return
		}
		if list, _ := all["rows"].([]any); terr == nil && !oddKeys(raw) && len(list) != len(rows) {
			t.Errorf("%d rows read of %d", len(rows), len(list))
		}
		list, _ := all["items"].([]any)
		if ierr != nil || oddKeys(raw) {
			return
		}
		if len(list) != len(items) {
			t.Fatalf("%d items read of %d", len(items), len(list))
		}
		for i, it := range items {
			md, _ := list[i].(map[string]any)["metadata"].(map[string]any)
			if fmt.Sprint(md["name"]) != it.Name || fmt.Sprint(md["uid"]) != it.UID {
				t.Errorf("item %d = %+v, want %v", i, it, md)
			}
		}
	})
}

// oddKeys tells documents whose keys are escaped or repeated: the two readers
// may then differ in which of them counts.
func oddKeys(raw []byte) bool {
	text := string(raw)
	if strings.Contains(text, `\`) {
		return true
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var walk func() bool
	walk = func() bool {
		tok, err := dec.Token()
		if err != nil {
			return true
		}
		switch tok {
		case json.Delim('{'):
			seen := map[string]bool{}
			for dec.More() {
				key, err := dec.Token()
				if err != nil || seen[fmt.Sprint(key)] {
					return true
				}
				if seen[fmt.Sprint(key)] = true; walk() {
					return true
				}
			}
			_, err = dec.Token()
		case json.Delim('['):
			for dec.More() {
				if walk() {
					return true
				}
			}
			_, err = dec.Token()
		}
		return err != nil
	}
	return walk()
}

// TestNameColumn finds the name by its definition, wherever it stands.
func TestNameColumn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ columns, rows, want string }{
		{`[{"name":"Ready"},{"name":"Object","format":"name"},{"name":"Name"}]`, `[{"cells":["True","web","no"]}]`, "web"},
		{`[{"name":"Ready"},{"name":"NAME"}]`, `[{"cells":[true,"web"],"object":{"kind":"x"}}]`, "web"},
		{`[{"name":"Ready"}]`, `[{"cells":["True"]}]`, ""},
	} {
		var got string
		read := &tableReader{row: func(name string, _ []string) error { got = name; return nil }}
		for _, raw := range []string{
			`{"kind":"Table","columnDefinitions":` + tc.columns + `,"rows":` + tc.rows + `}`,
			`{"rows":` + tc.rows + `,"metadata":{},"columnDefinitions":` + tc.columns + `}`,
		} {
			got = "?"
			if _, err := read.page([]byte(raw)); err != nil || got != tc.want || (read.name < 0) != (tc.want == "") {
				t.Errorf("%s: name %q, %v; want %q", raw, got, err, tc.want)
			}
		}
	}
}
