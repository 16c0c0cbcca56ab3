package state

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const soundState = `{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l-1","outputs":{
"open":{"value":"shown-value","type":"string"},"shut":{"value":{"a":["hidden-output"]},"type":"string","sensitive":true}},
"resources":[
{"mode":"managed","type":"t","name":"one","provider":"p","instances":[{"schema_version":0,"attributes":{"id":"x","pw":"hidden-attribute","l":[{"k":"hidden-nested"}]},
 "sensitive_attributes":[[{"type":"get_attr","value":"pw"}],[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":0,"type":"number"}},{"type":"get_attr","value":"k"}]]}]},
{"module":"module.m[\"a\"]","mode":"managed","type":"t","name":"two","provider":"p","instances":[{"index_key":"k"},{"index_key":1,"status":"tainted"},{"index_key":1,"deposed":"0123abcd"}]},
{"mode":"data","type":"d","name":"three","provider":"p","instances":[{}]}],"check_results":null}`

func TestParseState(t *testing.T) {
	t.Parallel()
	var secrets []string
	s, err := parseState(strings.NewReader(soundState), func(v string) { secrets = append(secrets, v) })
	if err != nil || len(s.broken) > 0 || !s.whole {
		t.Fatalf("parseState() = %+v, %v", s, err)
	}
	want := []string{`module.m["a"].t.two["k"]`, `module.m["a"].t.two[1]`, "t.one"}
	if diff := cmp.Diff(want, s.sorted()); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if s.serial != 7 || s.lineage != "l-1" || s.tool != "1.12.6" || s.count != 3 || s.tainted != 1 || s.deposed != 1 || s.encrypted {
		t.Errorf("parseState() = %+v", s)
	}
	slices.Sort(secrets)
	if diff := cmp.Diff([]string{"hidden-attribute", "hidden-nested", "hidden-output"}, secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

func TestParseStateBroken(t *testing.T) {
	t.Parallel()
	resource := func(instances string) string {
		return `{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"t","name":"a","instances":[` + instances + `]}]}`
	}
	for _, tc := range []struct {
		name, in, say string
		whole         bool
	}{
		{"empty", "", "empty", false},
		{"truncated", soundState[:300], "breaks at byte", false},
		{"byte order mark", "\xef\xbb\xbf" + soundState, "breaks at byte", false},
		{"merge markers", "<<<<<<< ours\n" + soundState, "breaks at byte", false},
		{"trailing bytes", soundState + "x", "Bytes follow", false},
		{"two states", soundState + soundState, "Bytes follow", false},
		{"a list", "[]", "an object should start here", false},
		{"no state", `{"a":1}`, `no "version"`, true},
		{"future format", `{"version":5,"serial":1}`, "version 5", true},
		{"old format", `{"version":3,"serial":1}`, "old format", true},
		{"version as text", `{"version":"4","serial":1}`, `"version" is no number`, true},
		{"negative serial", `{"version":4,"serial":-1}`, `"serial"`, true},
		{"serial as text", `{"version":4,"serial":"1"}`, `"serial"`, true},
		{"duplicate", resource(`{},{}`), "t.a appears more than once", true},
		{"bad status", resource(`{"status":"odd"}`), `invalid status "odd"`, true},
		{"odd mode", `{"version":4,"serial":1,"resources":[{"mode":"x","type":"t","name":"a","instances":[]}]}`, `mode "x"`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := parseState(strings.NewReader(tc.in), func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.broken, "\n"); !strings.Contains(got, tc.say) || s.whole != tc.whole {
				t.Errorf("broken = %q, whole %v, want %q and %v", got, s.whole, tc.say, tc.whole)
			}
		})
	}
}

func TestParseStateEncrypted(t *testing.T) {
	t.Parallel()
	s, err := parseState(strings.NewReader(`{"serial":3,"lineage":"l","meta":{"k":"v"},"encrypted_data":"x","encryption_version":"v0"}`), func(string) {})
	if err != nil || !s.encrypted || s.serial != 3 || s.lineage != "l" || len(s.broken) > 0 || s.resourcesOK {
		t.Errorf("parseState() = %+v, %v", s, err)
	}
}

func TestParseStateReadError(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	if _, err := parseState(io.MultiReader(strings.NewReader(soundState[:100]), iotest.ErrReader(boom)), func(string) {}); !errors.Is(err, boom) {
		t.Errorf("parseState() = %v, want the error of the source", err)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(soundState))
	f.Add([]byte(`{"version":4,"resources":[{"instances":[{"index_key":{}}]}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := parseState(bytes.NewReader(in), func(string) {})
		if err != nil || (!s.whole && len(s.broken) == 0) || len(s.addresses) > s.count {
			t.Fatalf("parseState() = %+v, %v", s, err)
		}
	})
}
