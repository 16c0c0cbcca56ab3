package tfplan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEntries: of all values of a plan only the texts of the ConfigMap that is asked for are told.
func TestEntries(t *testing.T) {
	t.Parallel()
	configMap := func(act, rest string) string {
		return planOf(change("t.b", "t", `"no-op"`, "", ""), change("kubernetes_config_map.flags", "kubernetes_config_map", act, "", rest))
	}
	for _, tc := range []struct {
		name, in      string
		found, wanted map[string]string
		why           string
	}{
		{"an update", configMap(`"update"`, `,"before":{"data":{"a":"true","b":"1"}},"after":{"data":{"a":"false"}}`), map[string]string{"a": "true", "b": "1"}, map[string]string{"a": "false"}, ""},
		{"nothing to do", configMap(`"no-op"`, `,"before":{"data":{"a":"1"}},"after":{"data":{"a":"1"}}`), map[string]string{"a": "1"}, map[string]string{"a": "1"}, ""},
		{"a create", configMap(`"create"`, `,"before":null,"after":{"data":{"a":"1"}},"after_unknown":{"id":true,"data":{}}`), map[string]string{}, map[string]string{"a": "1"}, ""},
		{"no data", configMap(`"update"`, `,"before":{"data":null},"after":{}`), map[string]string{}, map[string]string{}, ""},
		{"sensitive", configMap(`"update"`, `,"before":{"data":{"a":"1"}},"after":{"data":{"a":"2"}},"after_sensitive":{"data":{"a":true}}`), nil, nil, "sensitive"},
		{"was sensitive", configMap(`"update"`, `,"before":{"data":{"a":"1"}},"after":{"data":{"a":"2"}},"before_sensitive":{"data":true}`), nil, nil, "sensitive"},
		{"not known yet", configMap(`"update"`, `,"before":{"data":{"a":"1"}},"after":{"data":{}},"after_unknown":{"data":{"a":true}}`), nil, nil, "after the apply"},
		{"odd data", configMap(`"update"`, `,"before":{"data":[1]},"after":{"data":{"a":"2"}}`), nil, nil, "no names"},
		{"a number", configMap(`"update"`, `,"before":{"data":{"a":1}},"after":{"data":{"a":"2"}}`), nil, nil, "no text"},
		{"too much", configMap(`"update"`, `,"before":{"data":{"a":"`+strings.Repeat("x", longestEntries)+`"}},"after":{}`), nil, nil, "more than"},
		{"a Secret", planOf(change("kubernetes_config_map.flags", "kubernetes_secret", `"update"`, "", `,"before":{"data":{"a":"1"}},"after":{"data":{"a":"2"}}`)), nil, nil, "is no ConfigMap"},
	} {
		d, err := ReadJSONOf(strings.NewReader(tc.in), func(string) {}, "kubernetes_config_map.flags")
		if err != nil || d.Entries == nil {
			t.Fatalf("%s: %+v, %v", tc.name, d, err)
		}
		if diff := cmp.Diff([]map[string]string{tc.found, tc.wanted}, []map[string]string{d.Entries.Found, d.Entries.Wanted}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if (tc.why == "") != (d.Entries.Why == "") || !strings.Contains(d.Entries.Why, tc.why) {
			t.Errorf("%s: %q, want %q", tc.name, d.Entries.Why, tc.why)
		}
		if d, _ := mustRead(t, tc.in); d.Entries != nil {
			t.Errorf("%s is told without being asked for", tc.name)
		}
	}
	if d, err := ReadJSONOf(strings.NewReader(planOf()), func(string) {}, "kubernetes_config_map.flags"); err != nil || d.Entries != nil {
		t.Errorf("a plan without it: %+v, %v", d.Entries, err)
	}
}
