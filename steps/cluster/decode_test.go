package cluster

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	corev1 "k8s.io/api/core/v1"
)

// TestDecodeItem: an item reads as the standard library reads it, and what cannot be read is told without its value.
func TestDecodeItem(t *testing.T) {
	const pod = `{"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"a":"b","a":"c"},
		"managedFields":[{"manager":"m","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},"unknown":[1,{"a":null}],
		"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"100m"}},"ports":[{"containerPort":80}],"env":null}]},
		"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","message":"caf\u00e9"}]}}`
	var ours, theirs corev1.Pod
	if err := decodeItem([]byte(pod), &ours, json.MatchCaseInsensitiveNames(false)); err != nil {
		t.Fatal(err)
	}
	if err := stdjson.Unmarshal([]byte(pod), &theirs); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(ours, theirs) {
		t.Errorf("%+v\n%+v", ours, theirs)
	}
	for raw, at := range map[string]string{
		`{"metadata":{"name":{"password":"hunter2"}}}`: "/metadata/name is a JSON {",
		`{"metadata":{"generation":"hunter2"}}`:        "/metadata/generation is a JSON string",
		`{"metadata":{"labels":{"a":12345678}}}`:       "/metadata/labels/a is a JSON number",
	} {
		err := decodeItem([]byte(raw), &ours, json.MatchCaseInsensitiveNames(false))
		if err == nil || !strings.Contains(err.Error(), at) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "12345678") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestUntagged: a field without a tag would stay empty where names match in their own case alone.
func TestUntagged(t *testing.T) {
	type name struct{ Name string }
	type within struct {
		Items map[string][]*name `json:"items"`
	}
	for want, of := range map[bool][]any{false: {corev1.Pod{}, stdjson.RawMessage{}}, true: {name{}, within{}}} {
		for _, v := range of {
			if got := untagged(reflect.TypeOf(v), map[reflect.Type]bool{}); got != want {
				t.Errorf("%T: %v", v, got)
			}
		}
	}
}
