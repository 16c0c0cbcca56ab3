package tfstate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecordedObject reads which object an instance stands for, and of a ConfigMap its texts.
func TestRecordedObject(t *testing.T) {
	t.Parallel()
	const meta = `"metadata":[{"name":"flags","namespace":"shop","uid":"u-1","resource_version":"100"}]`
	for _, tc := range []struct {
		name, typ, attributes, more string
		object                      Recorded
		entries                     map[string]string
		why                         string
	}{
		{"a ConfigMap", "kubernetes_config_map", `{"data":{"a":"true"},` + meta + `}`, "", Recorded{"flags", "shop", "u-1", "100"}, map[string]string{"a": "true"}, ""},
		{"its second form", "kubernetes_config_map_v1", `{"data":null,` + meta + `}`, "", Recorded{"flags", "shop", "u-1", "100"}, map[string]string{}, ""},
		{"a Secret", "kubernetes_secret", `{"data":{"a":"hidden"},` + meta + `}`, "", Recorded{"flags", "shop", "u-1", "100"}, nil, "is no ConfigMap"},
		{"no object", "random_id", `{"id":"x"}`, "", Recorded{}, nil, "is no ConfigMap"},
		{"sensitive", "kubernetes_config_map", `{"data":{"a":"hidden"},` + meta + `}`, `,"sensitive_attributes":[[{"type":"get_attr","value":"data"}]]`, Recorded{"flags", "shop", "u-1", "100"}, nil, "sensitive"},
		{"a sensitive key", "kubernetes_config_map", `{"data":{"a":"hidden"},` + meta + `}`, `,"sensitive_attributes":[[{"type":"get_attr","value":"data"},{"type":"index","value":{"value":"a","type":"string"}}]]`, Recorded{"flags", "shop", "u-1", "100"}, nil, "sensitive"},
		{"a number", "kubernetes_config_map", `{"data":{"a":1},` + meta + `}`, "", Recorded{"flags", "shop", "u-1", "100"}, nil, "no text"},
		{"nothing for a key", "kubernetes_config_map", `{"data":{"a":null},` + meta + `}`, "", Recorded{"flags", "shop", "u-1", "100"}, nil, "no text"},
		{"odd data", "kubernetes_config_map", `{"data":[1],` + meta + `}`, "", Recorded{"flags", "shop", "u-1", "100"}, nil, "no names"},
		{"too much", "kubernetes_config_map", `{"data":{"a":"` + strings.Repeat("x", longestEntries) + `"},` + meta + `}`, "", Recorded{"flags", "shop", "u-1", "100"}, nil, "more than"},
	} {
		in := `{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l","resources":[{"mode":"managed","type":"` + tc.typ + `","name":"a","provider":"provider[\"x/y/z\"]","instances":[{"schema_version":0,"attributes":` + tc.attributes + tc.more + `}]}]}`
		seen := false
		_, err := Read(strings.NewReader(in), Options{Secret: func(string) {}, Visit: func(i *Instance) error {
			seen = true
			object, _ := i.Kubernetes()
			entries, why := i.Entries()
			if diff := cmp.Diff([]any{tc.object, tc.entries}, []any{object, entries}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.name, diff)
			}
			if (tc.why == "") != (why == "") || !strings.Contains(why, tc.why) {
				t.Errorf("%s: %q, want %q", tc.name, why, tc.why)
			}
			return nil
		}})
		if err != nil || !seen {
			t.Errorf("%s: %v, seen %v", tc.name, err, seen)
		}
	}
	if _, why := (&Instance{Type: "kubernetes_config_map", Cut: true}).Entries(); why == "" {
		t.Error("what was too large to keep is known")
	}
}
