package runbooks

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"handrail/steps/catalog"
)

// againstSchema tells what of a document a JSON Schema refuses: the part of draft 7 that Schema
// uses.
func againstSchema(root, s map[string]any, at string, v any) []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, at+": "+fmt.Sprintf(format, args...)) }
	sub := func(of any, at string, v any) []string { return againstSchema(root, of.(map[string]any), at, v) }
	if ref, ok := s["$ref"].(string); ok {
		s = root["definitions"].(map[string]any)[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
	}
	for key, x := range s {
		switch key {
		case "type":
			is := map[string]bool{"string": reflect.ValueOf(v).Kind() == reflect.String, "object": reflect.ValueOf(v).Kind() == reflect.Map, "array": reflect.ValueOf(v).Kind() == reflect.Slice,
				"integer": reflect.ValueOf(v).CanInt(), "number": reflect.ValueOf(v).CanInt() || reflect.ValueOf(v).CanFloat(), "boolean": reflect.ValueOf(v).Kind() == reflect.Bool}
			types, many := x.([]any)
			if !many {
				types = []any{x}
			}
			if !slices.ContainsFunc(types, func(t any) bool { return is[t.(string)] }) {
				bad("%.60s is no %v", fmt.Sprint(v), x)
			}
		case "const":
			if v != x {
				bad("%v is not %v", v, x)
			}
		case "enum":
			if !slices.Contains(x.([]any), v) {
				bad("%v is none of %v", v, x)
			}
		case "pattern":
			if text, ok := v.(string); ok && !regexp.MustCompile(x.(string)).MatchString(text) {
				bad("%q does not match %s", text, x)
			}
		case "anyOf":
			if !slices.ContainsFunc(x.([]any), func(o any) bool { return len(sub(o, at, v)) == 0 }) {
				bad("%.60s is none of its forms", fmt.Sprint(v))
			}
		case "allOf":
			for _, o := range x.([]any) {
				out = append(out, sub(o, at, v)...)
			}
		case "if":
			if len(sub(x, at, v)) == 0 {
				out = append(out, sub(s["then"], at, v)...)
			}
		case "items":
			list, _ := v.([]any)
			for i, item := range list {
				out = append(out, sub(x, fmt.Sprintf("%s[%d]", at, i), item)...)
			}
		case "required":
			m, _ := v.(map[string]any)
			for _, k := range x.([]any) {
				if _, ok := m[k.(string)]; !ok {
					bad("%s is missing", k)
				}
			}
		case "propertyNames":
			m, _ := v.(map[string]any)
			for k := range m {
				out = append(out, sub(x, at+"."+k, k)...)
			}
		case "properties", "additionalProperties":
			props, _ := s["properties"].(map[string]any)
			m, _ := v.(map[string]any)
			for k, item := range m {
				switch p, ok := props[k]; {
				case ok && key == "properties":
					out = append(out, sub(p, at+"."+k, item)...)
				case ok || key == "properties":
				case x == false:
					bad("no key %q", k)
				default:
					out = append(out, sub(x, at+"."+k, item)...)
				}
			}
		}
	}
	return out
}

func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSchemaTakesTheLibrary: what the reader takes the schema takes, with and without the
// names of the runbook, so that no editor underlines what is right.
func TestSchemaTakesTheLibrary(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	plain := asJSON(t, Schema(catalog.New(), nil))
	for _, b := range lib {
		var doc map[string]any
		if err := yaml.Unmarshal(b.Source, &doc); err != nil {
			t.Fatal(err)
		}
		for _, s := range []map[string]any{plain, asJSON(t, Schema(catalog.New(), b))} {
			for _, bad := range againstSchema(s, s, b.ID, doc) {
				t.Error(bad)
			}
		}
	}
}

// TestSchemaRefuses what the reader refuses, and an editor can tell while one types.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := asJSON(t, Schema(catalog.New(), nil))
	for name, change := range map[string][2]string{
		"a key":               {"title:", "titel:"},
		"a kind":              {"uses: terraform/lock", "uses: terraform/lok"},
		"a gate as a probe":   {"uses: terraform/lock", "uses: terraform/force-unlock"},
		"a key of another":    {"required: true", "answers: {a: b}"},
		"a parameter":         {"with: {lock_id", "with: {lockid"},
		"a parameter missing": {`with: {lock_id: "${facts.lock.id}"}`, "with: {dir: x}"},
		"a topic":             {"conclude: class", "conclude: klass"},
		"a value of a topic":  {"conclude: class", "conclude: class\n    cases: [{is: SomethingElse}]"},
		"no kind of step":     {"gate: terraform/force-unlock", "title: x"},
		"an id":               {"id: unlock", "id: un-lock"},
	} {
		src := strings.Replace(head+gated, change[0], change[1], 1)
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(src), &doc); err != nil || src == head+gated {
			t.Fatalf("%s: %v", name, err)
		}
		if len(againstSchema(s, s, "f", doc)) == 0 {
			t.Errorf("%s: nothing is wrong with\n%s", name, src)
		}
	}
	// What completes: the facts of this runbook by their names.
	raw, _ := json.Marshal(Schema(catalog.New(), mustParse(t, head+gated)))
	for _, name := range []string{`"facts.lock.held"`, `"unlock"`} {
		if !strings.Contains(string(raw), name) {
			t.Errorf("%s is not completed", name)
		}
	}
}
