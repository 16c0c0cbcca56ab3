package replay

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets this binary judge, as handrail does.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Word {
		os.Exit(Child(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func judge(t *testing.T, o Order) (Answer, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if o.Query == "" {
		o.Query = "data.main.deny"
	}
	return Judge(t.Context(), self, o)
}

func files(pairs ...string) map[string][]byte {
	out := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = []byte(pairs[i+1])
	}
	return out
}

// TestJudge: what the engine comes to, by policies, data and input.
func TestJudge(t *testing.T) {
	t.Parallel()
	const sizes = "package main\ndeny contains msg if {\n\tinput.size > data.limits.size\n\tmsg := sprintf(\"size %d\", [input.size])\n}\n"
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		files        map[string][]byte
		query, input string
		v0, all      bool
		output       string // part of it
		is           func(Answer) bool
	}{
		"denies":          {files: files("a.rego", sizes, "limits/data.yaml", "size: 3"), input: `{"size": 4}`, output: `"value":["size 4"]`},
		"allows":          {files: files("a.rego", sizes, "limits/data.json", `{"size": 9}`), input: `{"size": 4}`, output: `"value":[]`},
		"no data":         {files: files("a.rego", sizes), input: `{"size": 4}`, output: `"value":[]`},
		"old rego":        {files: files("a.rego", "package main\ndeny[msg] { input.size > 3; msg := \"big\" }"), v0: true, input: `{"size": 4}`, output: `"value":["big"]`},
		"old rego as new": {files: files("a.rego", "package main\ndeny[msg] { input.size > 3; msg := \"big\" }"), input: `{"size": 4}`, is: func(a Answer) bool { return strings.Contains(a.Error, "rego_parse_error") }},
		"all that conftest takes": {all: true, input: `{"size": 4}`, output: `"value":["size 4","named","odd"]`, files: files("a.rego", sizes, "limits/data.yaml", "size: 3",
			"b.rego", "package main\ndeny_name contains \"named\"\nviolation_odd_size contains \"odd\"\nwarn contains \"w\"\ndenying contains \"x\"\ndeny_undefined contains msg if { msg := input.none }")},
		"conftest, another package": {all: true, files: files("a.rego", strings.Replace(sizes, "main", "other", 1)), input: `{}`, is: func(a Answer) bool { return a.NoRule }},
		"conftest, no set":          {all: true, files: files("a.rego", "package main\ndeny if true"), input: `{}`, is: func(a Answer) bool { return strings.Contains(a.Error, "is no set of messages") }},
		"undefined":                 {files: files("a.rego", "package main\nallow if input.ok"), query: "data.main.allow", input: `{}`, is: func(a Answer) bool { return a.Undefined }},
		"another rule":              {files: files("a.rego", sizes), query: "data.main.violation", input: `{}`, is: func(a Answer) bool { return a.NoRule }},
		"another package":           {files: files("a.rego", sizes), query: "data.other.deny", input: `{}`, is: func(a Answer) bool { return a.NoRule }},
		"only tests":                {files: files("a_test.rego", sizes, "README.md", "x"), input: `{}`, is: func(a Answer) bool { return a.NoRule && len(a.Ignored) == 1 && a.Modules == 0 }},
		"data twice":                {files: files("a.rego", sizes, "data.yaml", "limits: {size: 3}", "limits/data.json", `{"size": 4}`), input: `{}`, is: func(a Answer) bool { return strings.Contains(a.Error, "another file too") }},
		"asks the network":          {files: files("a.rego", "package main\ndeny contains msg if msg := http.send({\"url\": \"http://127.0.0.1:1\", \"method\": \"get\"}).status"), input: `{}`, is: func(a Answer) bool { return strings.Contains(a.Error, "http.send") }},
		"reads environment":         {files: files("a.rego", "package main\ndeny contains msg if msg := opa.runtime().env.HOME"), input: `{}`, is: func(a Answer) bool { return strings.Contains(a.Error, "opa.runtime") }},
		"a function fails":          {files: files("a.rego", "package main\ndeny contains msg if msg := to_number(\"x\")"), input: `{}`, is: func(a Answer) bool { return len(a.Builtins) == 1 && string(a.Output) != "" }},
		"the time":                  {files: files("a.rego", "package main\ndeny contains msg if msg := time.now_ns()"), input: `{}`, output: `"value":[1773144000000000000]`},
		"two values":                {files: files("a.rego", "package main\ndeny := 1 if true\ndeny := 2 if true"), input: `{}`, is: func(a Answer) bool { return strings.Contains(a.Error, "eval_conflict_error") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := judge(t, Order{Query: tc.query, V0: tc.v0, All: tc.all, Now: now, Input: json.RawMessage(tc.input), Files: tc.files})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(a.Output), tc.output) || tc.is != nil && !tc.is(a) || tc.is == nil && a.Error != "" {
				t.Errorf("%+v, output %s", a, a.Output)
			}
		})
	}
	if _, err := judge(t, Order{Query: "data.main.deny; http.send({})", Input: json.RawMessage("{}")}); err == nil {
		t.Error("any query is evaluated")
	}
}

// TestNothingReachesOut: the functions that are left have no way out of the process, and none differs from run to run.
func TestNothingReachesOut(t *testing.T) {
	t.Parallel()
	caps := Capabilities()
	if len(caps.Builtins) < 150 || caps.AllowNet == nil || len(caps.AllowNet) != 0 {
		t.Errorf("%d functions, network %v", len(caps.Builtins), caps.AllowNet)
	}
	for _, b := range caps.Builtins {
		for _, word := range []string{"http.", "net.lookup", "opa.runtime", "rand.", "uuid.rfc4122", "json.match_schema", "json.verify_schema"} {
			if strings.HasPrefix(b.Name, word) {
				t.Error(b.Name)
			}
		}
	}
}
