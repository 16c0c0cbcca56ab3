package tfstate

import (
	"strings"
	"testing"
)

// TestStands reads what instances stand for, in the words of the tools' own lines.
func TestStands(t *testing.T) {
	t.Parallel()
	instance := func(attributes, more string) string {
		return `{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l","resources":[{"mode":"managed","type":"t","name":"a","provider":"provider[\"x/y/z\"]","instances":[{"schema_version":0,"attributes":` + attributes + more + `}]}]}`
	}
	for _, tc := range []struct{ attributes, more, want string }{
		{`{"id":"i-1","name":"n"}`, "", "t.a [id=i-1]"},
		{`{"name":"n"}`, "", "t.a [name=n]"},
		{`{"id":null,"name":"n"}`, "", "t.a []"},
		{`{"id":7}`, "", "t.a []"},
		{`{"size":1}`, "", "t.a []"},
		{`{"id":"s3cret"}`, `,"sensitive_attributes":[[{"type":"get_attr","value":"id"}]]`, "t.a []"},
	} {
		got := ""
		_, err := Read(strings.NewReader(instance(tc.attributes, tc.more)), Options{Secret: func(string) {}, Visit: func(i *Instance) error {
			stands, known := i.Stands()
			if !known {
				t.Errorf("%s: not known", tc.attributes)
			}
			got = i.Address + " [" + stands + "]"
			return nil
		}})
		if err != nil || got != tc.want {
			t.Errorf("%s: %q, %v, want %q", tc.attributes, got, err, tc.want)
		}
	}
	if _, known := (&Instance{Cut: true}).Stands(); known {
		t.Error("what was too large to keep is known")
	}
}
