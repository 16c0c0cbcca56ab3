package document

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte("a: 1\nb: [true, null, 1.50, -2e3, 2026-01-01, '5', text]\nc: {d: |\n  on\n}\n"))
	if err == nil {
		t.Errorf("Parse() = %v, want an error: a block in a flow", got)
	}
	got, err = Parse([]byte("a: 1\nb: [true, null, 1.50, -2e3, 2026-01-01, '5', text]\nc:\n  d: |\n    on\n"))
	want := map[string]any{"a": json.Number("1"), "b": []any{true, nil, json.Number("1.50"), json.Number("-2e3"), "2026-01-01", "5", "text"}, "c": map[string]any{"d": "on\n"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Parse() = %#v, %v", got, err)
	}
	got, err = Parse([]byte(`{"n": 123456789012345678901234567890, "s": "on"}`))
	if err != nil || !reflect.DeepEqual(got, map[string]any{"n": json.Number("123456789012345678901234567890"), "s": "on"}) {
		t.Errorf("Parse() = %#v, %v", got, err)
	}
	for src, why := range map[string]string{
		"":                                 "is empty",
		"a: 1\n---\nb: 2\n":                "more than one document",
		"a: on":                            "quote it",
		"a: N":                             "quote it",
		"a: True":                          "true or false",
		"a: 0x10":                          "not a JSON number",
		"a: 010":                           "not a JSON number",
		"a: .inf":                          "not a JSON number",
		"a: 1\na: 2":                       "is there twice",
		"a: &x 1\nb: *x":                   "anchors",
		"a: !!str 1":                       "tags",
		"a: {<<: {b: 1}}":                  "plain text",
		"? [a]\n: b":                       "plain text",
		"a: [":                             "neither YAML nor JSON",
		strings.Repeat("[", 80):            "",
		strings.Repeat("- ", 80) + "a":     "nested deeper",
		"a: " + strings.Repeat("x", 2<<20): "longer than",
	} {
		got, err := Parse([]byte(src))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Parse(%.20q) = %v, %v, want %q", src, got, err, why)
		}
		if _, is := errors.AsType[*Error](err); err != nil && !is {
			t.Errorf("Parse(%.20q): %T", src, err)
		}
	}
}

// FuzzParse: what is taken means the same as JSON, and again when it is read as
// that.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "- b\n- {c: [null, true]}", `{"a":"on"}`, "a: |\n  b\n", "a: 1e400", "'a': \"\\u0000\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := Parse(src)
		if err != nil {
			return
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("Marshal(%#v) = %v", v, err)
		}
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.UseNumber()
		var again any
		if err := dec.Decode(&again); err != nil {
			t.Fatalf("%s is no JSON: %v", raw, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(raw) {
			t.Errorf("%s became %s, %v", raw, twice, err)
		}
	})
}
