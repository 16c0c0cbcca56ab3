package tfstate

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const sound = `{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l-1","outputs":{
"open":{"value":"shown-value","type":"string"},"shut":{"value":{"a":["hidden-output"]},"type":"string","sensitive":true}},
"resources":[
{"mode":"managed","type":"t","name":"one","provider":"provider[\"registry.opentofu.org/h/x\"]","instances":[{"schema_version":0,"attributes":{"id":"x","pw":"hidden-attribute","l":[{"k":"hidden-nested"}]},
 "sensitive_attributes":[[{"type":"get_attr","value":"pw"}],[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":0,"type":"number"}},{"type":"get_attr","value":"k"}]]}]},
{"module":"module.m[\"a\"]","mode":"managed","type":"t","name":"two","instances":[{"index_key":"k","provider":"provider[\"registry.terraform.io/h/y\"].z"},{"index_key":1,"status":"tainted"},{"index_key":1,"deposed":"0123abcd"}]},
{"mode":"managed","type":"t","name":"hollow","instances":[]},
{"mode":"data","type":"d","name":"three","instances":[{}]}],"check_results":null}`

func mustRead(t testing.TB, in string, o Options) *Doc {
	t.Helper()
	d, err := Read(strings.NewReader(in), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, in := range []string{sound, resorted(t, sound)} {
		var secrets []string
		d := mustRead(t, in, Options{Secret: func(v string) { secrets = append(secrets, v) }})
		slices.Sort(secrets)
		slices.Sort(d.Addresses)
		slices.Sort(d.Marks)
		slices.Sort(d.Paths)
		type view struct {
			Serial                                                      int64
			Lineage, Tool                                               string
			Managed, Data, Tainted, Deposed, Outputs, Sensitive, Hollow int
			Addresses, Marks, Paths, Secrets                            []string
			Types, Providers                                            map[string]int
			Condition                                                   Condition
		}
		got := view{d.Serial, d.Lineage, d.Tool, d.Managed, d.Data, d.Tainted, d.Deposed, d.Outputs, d.Sensitive, d.Hollow,
			d.Addresses, d.Marks, d.Paths, secrets, d.Types, d.Providers, d.Condition()}
		want := view{7, "l-1", "1.12.6", 3, 1, 1, 1, 2, 3, 1,
			[]string{`module.m["a"].t.two["k"]`, `module.m["a"].t.two[1]`, "t.one"},
			[]string{`deposed module.m["a"].t.two[1] (0123abcd)`, `tainted module.m["a"].t.two[1]`},
			[]string{"t.one.l[0].k", "t.one.pw"},
			[]string{"hidden-attribute", "hidden-nested", "hidden-output"},
			map[string]int{"t": 4, "d": 1}, map[string]int{"registry.opentofu.org/h/x": 1, "registry.terraform.io/h/y": 1}, Sound}
		if diff := cmp.Diff(want, got); diff != "" || !d.Usable() {
			t.Errorf("Read() (-want +got):\n%s", diff)
		}
	}
}

// resorted is a state as `jq -S` leaves it: instances stand before names.
func resorted(t testing.TB, in string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(in), &v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.MarshalIndent(v, "", "  ")
	return string(out)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	resource := func(instances string) string {
		return `{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"t","name":"a","instances":[` + instances + `]}]}`
	}
	for _, tc := range []struct {
		name, in string
		want     Condition
	}{
		{"sound", sound, Sound}, {"minimal", `{"version":4,"serial":0}`, Sound}, {"null parts", `{"version":4,"serial":0,"outputs":null,"resources":null}`, Sound},
		{"empty", "", Empty}, {"cut", sound[:300], Truncated}, {"cut in a string", sound[:20], Truncated}, {"one brace", "{", Truncated}, {"only space", " \n", Truncated},
		{"byte order mark", "\ufeff" + sound, Marked}, {"utf-16", "\xff\xfe{\x00", Marked}, {"merge at the start", "<<<<<<< ours\n" + sound, Conflict},
		{"merge inside", strings.Replace(sound, `"serial":7,`, "<<<<<<< HEAD\n\"serial\":7,\n=======\n\"serial\":8,\n>>>>>>> theirs\n", 1), Conflict},
		{"zeroed", strings.Repeat("\x00", 4096), Zeroed}, {"gzip", "\x1f\x8b\x08\x00", Gzip}, {"plan", "PK\x03\x04rest", Archive},
		{"html", "<!DOCTYPE html><html><title>502 Bad Gateway</title>", HTML}, {"xml error", `<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`, HTML},
		{"two states", sound + sound, Trailing}, {"garbage after", sound + "}", Trailing}, {"zeros after", sound + "\x00\x00", Trailing},
		{"not json", "hello", NotJSON}, {"list", "[]", NotJSON}, {"single quotes", `{'version':4}`, NotJSON},
		{"foreign", `{"a":1}`, Foreign}, {"plan json", `{"format_version":"1.2","resource_changes":[]}`, Foreign}, {"server error", `{"message":"Not Found"}`, Foreign},
		{"future", `{"version":5,"serial":1}`, FutureFormat}, {"old", `{"version":3,"serial":1,"backend":{"type":"s3"}}`, OldFormat},
		{"version as text", `{"version":"4","serial":1}`, Invalid}, {"negative serial", `{"version":4,"serial":-1}`, Invalid}, {"fraction", `{"version":4,"serial":1.5}`, Invalid},
		{"no serial", `{"version":4}`, Invalid}, {"serial twice", `{"version":4,"serial":1,"serial":2}`, Invalid}, {"tool", `{"version":4,"serial":1,"terraform_version":"one"}`, Invalid},
		{"short version", `{"version":4,"serial":1,"terraform_version":"1.9"}`, Sound}, {"version with a v", `{"version":4,"serial":1,"terraform_version":"v1.9.0"}`, Sound},
		{"serial of 64 bits", `{"version":4,"serial":9223372036854775808}`, Sound}, {"the largest serial", `{"version":4,"serial":18446744073709551615}`, Sound},
		{"serial over 64 bits", `{"version":4,"serial":18446744073709551616}`, Invalid}, {"serial as a power", `{"version":4,"serial":1e3}`, Invalid},
		{"format zero", `{"version":0,"serial":1}`, Invalid}, {"format below zero", `{"version":-4,"serial":1}`, Invalid},
		{"new form under an old number", strings.Replace(sound, `"version":4`, `"version":2`, 1), Invalid}, {"old and without modules", `{"version":1,"serial":1}`, Invalid},
		{"old with modules", `{"version":2,"serial":1,"modules":[]}`, OldFormat},
		{"duplicate", resource(`{},{}`), Duplicate}, {"duplicate key", resource(`{"index_key":"a"},{"index_key":"a"}`), Duplicate},
		{"same key twice deposed", resource(`{"index_key":1},{"index_key":1,"deposed":"0123abcd"}`), Sound}, {"number and text", resource(`{"index_key":1},{"index_key":"1"}`), Sound},
		{"status", resource(`{"status":"odd"}`), Invalid}, {"resource of no name", `{"version":4,"serial":1,"resources":[{"mode":"managed","instances":[]}]}`, Invalid},
		{"resource as text", `{"version":4,"serial":1,"resources":["x"]}`, Invalid},
		{"encrypted", `{"serial":3,"lineage":"l","meta":{"k":"v"},"encrypted_data":"x","encryption_version":"v0"}`, Encrypted},
		{"deep", `{"version":4,"serial":1,"x":` + strings.Repeat("[", 20000), NotJSON},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(tc.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.in))} {
				d, err := Read(r, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if d.Condition() != tc.want || d.Size != int64(len(tc.in)) {
					t.Errorf("%s: condition %s of %d bytes, want %s of %d: %v", name, d.Condition(), d.Size, tc.want, len(tc.in), d.Faults)
				}
			}
		})
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	sum := md5.Sum([]byte(sound))
	if d := mustRead(t, sound, Options{Digest: strings.ToUpper(hex.EncodeToString(sum[:]))}); d.Condition() != Sound {
		t.Errorf("own digest: %v", d.Faults)
	}
	for _, in := range []string{sound + " ", sound[:100], "<html>", ""} {
		if d := mustRead(t, in, Options{Digest: hex.EncodeToString(sum[:])}); !slices.ContainsFunc(d.Faults, func(f Fault) bool { return f.Condition == Mismatch }) {
			t.Errorf("%.20q: %v, want a mismatch", in, d.Faults)
		}
	}
}

// TestHugeInstance: an attribute that no memory should hold is passed over, and
// said to be.
func TestHugeInstance(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader(`{"version":4,"serial":1,"resources":[{"mode":"managed","type":"t","name":"a","instances":[{"attributes":{"pw":"`),
		io.LimitReader(letters{}, 3*maxAttributes), strings.NewReader(`"},"sensitive_attributes":[[{"type":"get_attr","value":"pw"}]]}]}]}`))
	cut := false
	d, err := Read(in, Options{Visit: func(i *Instance) error { cut = i.Cut && len(i.Attributes) == 0; return nil }})
	if err != nil || d.Managed != 1 || d.Unread != 1 || !cut || d.Condition() != Sound {
		t.Errorf("Read() = %+v, %v, cut %v", d, err, cut)
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestFaultsStayFew: a state with a fault in each instance does not fill memory.
func TestFaultsStayFew(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(`{"version":4,"serial":1,"resources":[{"mode":"managed","type":"t","name":"a","instances":[{}`)
	for range 50_000 {
		b.WriteString(`,{"status":"odd"}`)
	}
	b.WriteString("]}]}")
	d, err := Read(&b, Options{})
	if err != nil || len(d.Faults) > maxMarks+2 || d.Managed != 50_001 {
		t.Errorf("%d faults of %d instances, %v", len(d.Faults), d.Managed, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, in := range []string{sound, "", "<html>", `{"version":4,"resources":[{"instances":[{"index_key":{}}]}]}`, `{"serial":1,"encrypted_data":""}`, sound + sound} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var told []string
		d, err := Read(bytes.NewReader(in), Options{Secret: func(v string) { told = append(told, v) }, Sums: len(in)%2 == 0, Visit: func(*Instance) error { return nil }})
		if err != nil || d.Size != int64(len(in)) || len(d.Addresses) > d.Managed {
			t.Fatalf("Read() = %+v, %v", d, err)
		}
		var lib any
		isObject := json.Unmarshal(in, &lib) == nil
		if _, ok := lib.(map[string]any); isObject && ok != d.Whole {
			t.Fatalf("whole is %v, encoding/json says %v: %v", d.Whole, ok, d.Faults)
		}
		if !d.Whole && d.Condition() == Sound {
			t.Fatalf("sound, but not whole: %s", fmt.Sprint(d))
		}
	})
}
