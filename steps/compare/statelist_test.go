package compare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// listed subtracts lists from a state of entries, without a cluster.
func listed(t *testing.T, entries []string, in steps.Params, files map[string]string) (map[string]steps.Value, error) {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.env = steps.Env{Dir: w.dir, Home: t.TempDir(), Now: time.Now}
	var instances []string
	for _, e := range entries {
		typ, id, _ := strings.Cut(e, "/")
		attributes := fmt.Sprintf(`{"id":%q}`, id)
		if id == "" {
			attributes = `{}`
		}
		instances = append(instances, fmt.Sprintf(`{"mode":"managed","type":%q,"name":"n_%s","provider":"provider[\"lab.example/lab/x\"]","instances":[{"schema_version":0,"attributes":%s}]}`, typ, strings.ReplaceAll(id, "-", "_"), attributes))
	}
	w.state(instances...)
	for name, text := range files {
		w.write(name, text)
	}
	for _, k := range Kinds() {
		if k.Name == "compare/state-list" {
			obs, err := stepstest.Observe(t.Context(), k.Reads(w.env), k.Facts, in, steps.SecretsOnly(nil))
			return obs.Facts, err
		}
	}
	t.Fatal("there is no compare/state-list")
	return nil, nil
}

// TestListSubtracted: what is recorded and on neither list is a ghost; a list that names
// nothing of the state, a page of one, or one without a type calls nothing gone.
func TestListSubtracted(t *testing.T) {
	t.Parallel()
	entries := []string{"x_entry/a", "x_entry/b", "x_entry/c", "x_other/z"}
	both := steps.Params{"list": steps.PathOf("one"), "again": steps.PathOf("two")}
	for name, tc := range map[string]struct {
		entries []string
		in      steps.Params
		files   map[string]string
		ghosts  string // "?" where it is unknown
		orphans string
		looks   int64
		fails   string
	}{
		"two lists":                     {in: both, files: map[string]string{"one": "a\nd\n", "two": "# later\na\nd\n"}, ghosts: "x_entry.n_b x_entry.n_c", orphans: "d", looks: 2},
		"the second has one more":       {in: both, files: map[string]string{"one": "a\n", "two": "a\nb\ne\n"}, ghosts: "x_entry.n_c", looks: 2},
		"one went between them":         {in: both, files: map[string]string{"one": "a\nb\n", "two": "a\n"}, ghosts: "x_entry.n_c", looks: 2},
		"one list, named twice":         {in: steps.Params{"list": steps.PathOf("one"), "again": steps.PathOf("./one")}, files: map[string]string{"one": "a\nb"}, ghosts: "x_entry.n_c", looks: 1},
		"JSON of an API":                {in: both, files: map[string]string{"one": `{"entries":[{"name":"a","value":"b"}]}`, "two": `[{"id":"a"}]`}, ghosts: "x_entry.n_b x_entry.n_c", looks: 2},
		"keys of a bucket":              {in: both, files: map[string]string{"one": `{"Contents":[{"Key":"a"}],"IsTruncated":false}`, "two": `["a"]`}, ghosts: "x_entry.n_b x_entry.n_c", looks: 2},
		"a page of more":                {in: both, files: map[string]string{"one": `{"Contents":[{"Key":"a"}],"IsTruncated":true}`, "two": "a"}, fails: "without exactly one list"},
		"a page with a token":           {in: both, files: map[string]string{"one": `{"items":["a"],"nextPageToken":"x"}`, "two": "a"}, fails: "without exactly one list"},
		"empty":                         {in: both, files: map[string]string{"one": "\n", "two": "a"}, fails: "it is empty"},
		"empty, the other is not":       {in: both, files: map[string]string{"one": "[]", "two": "a"}, fails: "it is empty"},
		"the other is empty":            {in: both, files: map[string]string{"one": "a", "two": `{"entries":[]}`}, fails: "it is empty"},
		"both empty":                    {in: both, files: map[string]string{"one": "[]", "two": "[]"}, ghosts: "?", orphans: "?", looks: 2},
		"both empty, of what there is":  {in: steps.Params{"list": both["list"], "again": both["again"], "type": steps.StringOf("x_entry")}, files: map[string]string{"one": "[]", "two": "[]"}, ghosts: "?", orphans: "?", looks: 2},
		"both empty, and all is gone":   {in: steps.Params{"list": both["list"], "again": both["again"], "type": steps.StringOf("x_gone")}, files: map[string]string{"one": "[]", "two": "[]"}, looks: 2},
		"both empty, one has no id":     {entries: []string{"x_gone/"}, in: steps.Params{"list": both["list"], "again": both["again"], "type": steps.StringOf("x_gone")}, files: map[string]string{"one": "[]", "two": "[]"}, ghosts: "?", orphans: "?", looks: 2},
		"of another account":            {in: both, files: map[string]string{"one": "q\n", "two": "q\n"}, ghosts: "?", orphans: "?", looks: 2},
		"ids of two types":              {in: both, files: map[string]string{"one": "a\nz\n", "two": "a\nz\n"}, ghosts: "?", orphans: "?", looks: 2},
		"ids of two types, and it says": {in: steps.Params{"list": steps.PathOf("one"), "type": steps.StringOf("x_other")}, files: map[string]string{"one": "a\nz\n"}, orphans: "a", looks: 1},
		"of a type that none is of":     {in: steps.Params{"list": steps.PathOf("one"), "type": steps.StringOf("x_other")}, files: map[string]string{"one": "a\n"}, ghosts: "?", orphans: "?", looks: 1},
		"one has no id":                 {entries: []string{"x_entry/a", "x_entry/"}, in: both, files: map[string]string{"one": "a\nd", "two": "a\nd"}, orphans: "?", looks: 2},
		"no list":                       {in: steps.Params{"list": steps.PathOf("none")}, fails: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := entries
			if tc.entries != nil {
				of = tc.entries
			}
			f, err := listed(t, of, tc.in, tc.files)
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Fatalf("got %v, want %q", err, tc.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := func(fact string) string {
				if !f[fact].Known() {
					return "?"
				}
				return strings.Join(f[fact].Strings(), " ")
			}
			if age := f["age"].Duration(); age < 0 || age > time.Hour {
				t.Errorf("lists of this minute are %s old", age)
			}
			if got("ghosts") != tc.ghosts || got("orphans") != tc.orphans || f["looks"].Int() != tc.looks {
				t.Errorf("ghosts %q, orphans %q, looks %d; want %q, %q, %d", got("ghosts"), got("orphans"), f["looks"].Int(), tc.ghosts, tc.orphans, tc.looks)
			}
		})
	}
}
