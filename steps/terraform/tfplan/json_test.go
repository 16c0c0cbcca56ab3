package tfplan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustRead(t interface{ Fatalf(string, ...any) }, in string) (*Doc, []string) {
	var secrets []string
	d, err := ReadJSON(strings.NewReader(in), func(v string) { secrets = append(secrets, v) })
	if err != nil {
		t.Fatalf("ReadJSON(): %v", err)
	}
	return d, secrets
}

func planOf(changes ...string) string {
	return `{"format_version":"1.2","terraform_version":"1.12.6","resource_changes":[` + strings.Join(changes, ",") + `]}`
}

func change(address, typ, actions, reason, rest string) string {
	return fmt.Sprintf(`{"address":%q,"mode":"managed","type":%q,"provider_name":"p","action_reason":%q,"change":{"actions":[%s]%s}}`, address, typ, reason, actions, rest)
}

func update(before, after, more string) string {
	return change("t.a", "t", `"update"`, "", `,"before":`+before+`,"after":`+after+more)
}

func TestUpdates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in                  string
		paths                     []string
		labels, credential, dummy bool
	}{
		{"labels", update(`{"metadata":[{"labels":{"a":"1","b":"2"},"name":"n"}]}`, `{"metadata":[{"labels":{"a":"1"},"name":"n"}]}`, ""), []string{"metadata[0].labels.b"}, true, false, false},
		{"annotation with dots", update(`{"metadata":[{"annotations":{"argocd.argoproj.io/instance":"x"}}]}`, `{"metadata":[{"annotations":null}]}`, ""), []string{`metadata[0].annotations["argocd.argoproj.io/instance"]`}, true, false, false},
		{"tags and more", update(`{"tags":{"a":"1"},"size":1}`, `{"tags":{"a":"2"},"size":2}`, ""), []string{"size", "tags.a"}, false, false, false},
		{"marked", update(`{"data":{"k":"old-value"}}`, `{"data":{"k":"new-value"}}`, `,"before_sensitive":{"data":true},"after_sensitive":{"data":true}`), []string{"data.k"}, false, true, false},
		{"by name", update(`{"password":"old-value"}`, `{"password":"CHANGEME"}`, ""), []string{"password"}, false, true, true},
		{"placeholder", update(`{"data":{"k":"old-value"}}`, `{"data":{"k":"<insert here>"}}`, `,"after_sensitive":{"data":{"k":true}}`), []string{"data.k"}, false, true, true},
		{"label that is secret", update(`{"labels":{"k":"old-value"}}`, `{"labels":{"k":"newer-value"}}`, `,"after_sensitive":{"labels":{"k":true}}`), []string{"labels.k"}, false, true, false},
		{"unknown", update(`{"a":"x","b":1}`, `{"b":1}`, `,"after_unknown":{"a":true}`), []string{"a (known after apply)"}, false, false, false},
		{"list grew", update(`{"l":[1]}`, `{"l":[1,2]}`, ""), []string{"l"}, false, false, false},
		{"nothing seen", update(`{"a":1}`, `{"a":1}`, ""), nil, false, false, false},
		{"odd shapes", update(`[1]`, `"x"`, `,"after_unknown":[{}],"before_sensitive":7`), []string{""}, false, false, false},
	} {
		d, _ := mustRead(t, planOf(tc.in))
		if len(d.Changes) != 1 {
			t.Fatalf("%s: %+v", tc.name, d)
		}
		c := d.Changes[0]
		if diff := cmp.Diff(tc.paths, c.Paths); diff != "" || c.Labels != tc.labels || c.Credential != tc.credential || c.Dummy != tc.dummy {
			t.Errorf("%s: labels %v, credential %v, placeholder %v, paths (-want +got):\n%s", tc.name, c.Labels, c.Credential, c.Dummy, diff)
		}
	}
}

func TestSecretsOfAPlanAreTold(t *testing.T) {
	t.Parallel()
	_, got := mustRead(t, planOf(update(`{"a":"old-secret","l":[{"k":"list-secret"}]}`, `{"a":"new-secret","l":[{"k":"list-other"}],"open":"seen"}`,
		`,"before_sensitive":{"a":true,"l":[{"k":true}]},"after_sensitive":{"a":true,"l":[{"k":true}],"x":[true]}`)))
	slices.Sort(got)
	if diff := cmp.Diff([]string{"list-other", "list-secret", "new-secret", "old-secret"}, got); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

func TestActs(t *testing.T) {
	t.Parallel()
	d, _ := mustRead(t, `warning {not} json`+"\n")
	if d.Whole {
		t.Error("a sentence is read as a plan")
	}
	d, _ = mustRead(t, "There are problems.\n"+planOf(
		change("t.a", "t", `"no-op"`, "", ""), change("t.b", "t", `"create"`, "", ""), change("t.c", "t", `"delete","create"`, "replace_because_tainted", `,"replace_paths":[["a",0,"b"]]`),
		change("t.d", "t", `"create","delete"`, "replace_because_cannot_update", ""), change("t.e", "t", `"forget"`, "", ""), change("t.f", "t", `"forget","create"`, "", ""),
		change("t.g", "t", `"delete"`, "delete_because_of_the_moon", ""), change("t.h", "t", `"teleport"`, "", ""), `{"address":"t.i","previous_address":"t.z","change":{"actions":["no-op"],"importing":{"id":"i-1"}}}`))
	if d.Add() != 4 || d.Destroyed() != 3 || d.Replaced() != 2 || d.Moved != 1 || d.Imported != 1 || d.Resources != 9 || len(d.Changes) != 8 || d.Newer == "" || !d.Whole {
		t.Errorf("plan = %+v", d)
	}
	if c := d.Changes[1]; !slices.Equal(c.Forced, []string{"a[0].b"}) || !strings.Contains(Reason(c), "untaint") {
		t.Errorf("replace = %+v, %s", c, Reason(c))
	}
	if c := d.Changes[5]; !strings.Contains(Reason(c), "handrail does not know") {
		t.Errorf("a reason of tomorrow: %s", Reason(c))
	}
}

func TestPlansThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, broken, newer string }{
		{"empty", "", "cut off", ""}, {"cut", planOf(change("t.a", "t", `"create"`, "", ""))[:80], "cut off", ""}, {"list", "[]", "cut off", ""},
		{"state", `{"format_version":"1.0","values":{}}`, "JSON of a state", ""}, {"raw state", `{"version":4,"serial":1}`, "no format_version", ""},
		{"encrypted", `{"meta":{},"encrypted_data":"x"}`, "encrypted", ""}, {"two", planOf() + "x", "something follows", ""},
		{"next format", `{"format_version":"2.0","resource_changes":[]}`, "", "format \"2.0\""}, {"shape", `{"format_version":"1.9","resource_changes":[{"address":1},7,{"change":[]}]}`, "", "shape"},
		{"changes as text", `{"format_version":"1.9","resource_changes":"many"}`, "", ""},
	} {
		d, _ := mustRead(t, tc.in)
		if d.Whole != (tc.broken == "") || !strings.Contains(d.Broken, tc.broken) || !strings.Contains(d.Newer, tc.newer) {
			t.Errorf("%s: %+v", tc.name, d)
		}
	}
	boom := errors.New("boom")
	if _, err := ReadJSON(io.MultiReader(strings.NewReader(planOf()[:20]), iotest.ErrReader(boom)), nil); !errors.Is(err, boom) {
		t.Errorf("ReadJSON() = %v, want the error of the source", err)
	}
}

func create(address, after string) string {
	return change(address, "t", `"create"`, "", `,"after":`+after+`,"after_unknown":{"id":true}`)
}

func destroy(address, reason, before string) string {
	return change(address, "t", `"delete"`, reason, `,"before":`+before)
}

const noConfig = "delete_because_no_resource_config"

func TestMissingMoves(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		in       []string
		want     []Move
		doubtful int
	}{
		{"rename", []string{destroy("t.a", noConfig, `{"id":"1","n":"x"}`), create("t.b", `{"n":"x"}`)}, []Move{{"t.a", "t.b", 1, true}}, 0},
		{"count to for_each", []string{destroy("t.a[0]", "delete_because_wrong_repetition", `{"id":"1","n":"x"}`), destroy("t.a[1]", "delete_because_wrong_repetition", `{"id":"2","n":"y"}`),
			create(`t.a["y"]`, `{"n":"y"}`), create(`t.a["x"]`, `{"n":"x"}`)}, []Move{{"t.a[0]", `t.a["x"]`, 1, true}, {"t.a[1]", `t.a["y"]`, 1, true}}, 0},
		{"whole module", []string{destroy("module.old.t.a", noConfig, `{"n":"x"}`), destroy(`module.old.t.b["k"]`, noConfig, `{"n":"y"}`), create("module.new.t.a", `{"n":"x"}`), create(`module.new.t.b["k"]`, `{"n":"y"}`)},
			[]Move{{"module.old", "module.new", 2, true}}, 0},
		{"part of a module", []string{destroy("module.old.t.a", noConfig, `{"n":"x"}`), change("module.old.t.b", "t", `"update"`, "", ""), create("module.new.t.a", `{"n":"x"}`)},
			[]Move{{"module.old.t.a", "module.new.t.a", 1, true}}, 0},
		{"into a module", []string{destroy("t.a", noConfig, `{"n":"x"}`), create("module.new.t.a", `{"n":"x"}`)}, []Move{{"t.a", "module.new.t.a", 1, true}}, 0},
		{"other value", []string{destroy("t.a", noConfig, `{"n":"x"}`), create("t.b", `{"n":"z"}`)}, nil, 0},
		{"deleted for another reason", []string{destroy("t.a", "delete_because_enabled_false", `{"n":"x"}`), create("t.b", `{"n":"x"}`)}, nil, 0},
		{"alike", []string{destroy("t.a", noConfig, `{"n":"x"}`), create("t.b", `{"n":"x"}`), create("t.c", `{"n":"x"}`)}, nil, 1},
		{"alike but for the key", []string{destroy("t.a[0]", noConfig, `{"n":"x"}`), destroy("t.a[1]", noConfig, `{"n":"x"}`), create("t.b[1]", `{"n":"x"}`), create("t.b[0]", `{"n":"x"}`)}, []Move{{"t.a", "t.b", 2, true}}, 0},
		{"nothing known", []string{destroy("t.a", noConfig, `{"id":"1"}`), create("module.m.t.a", `{"n":null}`)}, []Move{{"t.a", "module.m.t.a", 1, false}}, 0},
		{"nothing known, other name", []string{destroy("module.x.t.a[0]", noConfig, `{"id":"1"}`), create("t.b", `{}`)}, nil, 0},
		{"deposed", []string{strings.Replace(destroy("t.a", noConfig, `{"n":"x"}`), `"mode"`, `"deposed":"0123abcd","mode"`, 1), create("t.b", `{"n":"x"}`)}, nil, 0},
	} {
		d, _ := mustRead(t, planOf(tc.in...))
		if diff := cmp.Diff(tc.want, d.Moves); diff != "" || len(d.Doubtful) != tc.doubtful {
			t.Errorf("%s: doubtful %v, moves (-want +got):\n%s", tc.name, d.Doubtful, diff)
		}
	}
}

func TestGhosts(t *testing.T) {
	t.Parallel()
	d, _ := mustRead(t, `{"format_version":"1.2","resource_drift":[`+destroy("t.a", "", `{"n":"x"}`)+`,`+change("t.moved", "t", `"no-op"`, "", "")+`],"resource_changes":[`+create("t.a", `{"n":"x"}`)+`]}`)
	if !slices.Equal(d.Ghosts, []string{"t.a"}) || len(d.Drift) != 1 || len(d.Moves) != 0 {
		t.Errorf("plan = %+v", d)
	}
}

// TestRenamesAreFound: however a unit with telling attributes is renamed, each
// rename is found and no other.
func TestRenamesAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var in []string
		want := map[string]string{}
		for i := range rapid.IntRange(1, 12).Draw(t, "n") {
			from, to, body := fmt.Sprintf("t.old%d", i), fmt.Sprintf("t.new%d", i), fmt.Sprintf(`{"n":"value-%d"}`, i)
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				in = append(in, destroy(from, noConfig, body), create(to, body))
				want[from] = to
			case 1:
				in = append(in, destroy(from, noConfig, body))
			default:
				in = append(in, create(to, body))
			}
		}
		in = rapid.Permutation(in).Draw(t, "order")
		d, _ := mustRead(t, planOf(in...))
		got := map[string]string{}
		for _, m := range d.Moves {
			got[m.From] = m.To
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("moves (-want +got):\n%s", diff)
		}
	})
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"t.a", "t.a[0]", `t.a["x.y[\"]"]`, `module.m["a.b"].module.n[1].t.a`, "data.t.a", "module.m.data.t.a[0]"} {
		a, ok := ParseAddress(s)
		if !ok || a.String() != s {
			t.Errorf("ParseAddress(%q) = %q, %v", s, a, ok)
		}
	}
	for _, s := range []string{"", "t", "module.m", "t.a.b", `t.a["x`, ".a", "t."} {
		if a, ok := ParseAddress(s); ok {
			t.Errorf("ParseAddress(%q) = %+v, want none", s, a)
		}
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		typ, attributes string
		want            Object
	}{
		{"kubernetes_config_map_v1", `{"metadata":[{"name":"n","namespace":"s"}]}`, Object{Resource: "configmaps", Name: "n", Namespace: "s", ID: "s/n"}},
		{"kubernetes_namespace", `{"metadata":[{"name":"n"}]}`, Object{Resource: "namespaces", Name: "n", ID: "n"}},
		{"kubernetes_manifest", `{"manifest":{"apiVersion":"x.io/v1","kind":"Y","metadata":{"name":"n","namespace":"s"}}}`, Object{APIVersion: "x.io/v1", Kind: "Y", Name: "n", Namespace: "s", ID: "apiVersion=x.io/v1,kind=Y,namespace=s,name=n"}},
		{"kubernetes_secret", `{"metadata":[{"generate_name":"n-"}]}`, Object{Resource: "secrets"}},
		{"kubernetes_labels", `{"metadata":[{"name":"n"}]}`, Object{}}, {"aws_instance", `{}`, Object{}}, {"kubernetes_pod", `{"metadata":"x"}`, Object{}},
	} {
		var attributes map[string]any
		if err := json.Unmarshal([]byte(tc.attributes), &attributes); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, ObjectOf(tc.typ, attributes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.typ, diff)
		}
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(planOf(update(`{"metadata":[{"labels":{"a":"1"}}]}`, `{"metadata":[{"labels":{}}]}`, `,"before_sensitive":{"a":true}`), destroy("t.a", noConfig, `{"n":"x"}`), create("t.b", `{"n":"x"}`))))
	f.Add([]byte(`{"format_version":"1.2","resource_changes":[{"change":{"actions":["create"],"after":{"metadata":[null]}},"type":"kubernetes_x"}],"output_changes":{"a":{"actions":["create"]}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := ReadJSON(bytes.NewReader(in), func(string) {})
		if err != nil || d.Whole == (d.Broken != "") || d.Destroyed() < d.Replaced() {
			t.Fatalf("ReadJSON() = %+v, %v", d, err)
		}
		for _, m := range d.Moves {
			if m.From == "" || m.To == "" || m.Count < 1 {
				t.Fatalf("move %+v", m)
			}
		}
		_ = d.ActionsDigest()
	})
}
