package terraform

import (
	"strings"
	"testing"
)

// A state whose head is not where a tool writes it has no serial.
func TestParseHead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in, err string
		want          stateHead
	}{
		{"plain", `{"version":4,"terraform_version":"1","serial":7,"lineage":"l","resources":[`, "", stateHead{7, "l", "1"}},
		{"encrypted", `{"serial":3,"lineage":"l","meta":{"k":"v"},"encrypted_data":"x`, "", stateHead{3, "l", ""}},
		{"lineage after much", `{"version":4,"outputs":{"o":"` + strings.Repeat("x", headBytes) + `"},"serial":1,"lineage":"l"}`, "hold no serial", stateHead{}},
		{"no lineage", `{"version":4,"serial":7}`, "no serial or no lineage", stateHead{}},
		{"empty", ``, "hold no serial", stateHead{}},
		{"no object", `[]`, "an object should start here", stateHead{}},
		{"bad serial", `{"serial":"7","lineage":"l"}`, "no serial or no lineage", stateHead{}},
	} {
		got, err := parseHead(strings.NewReader(tc.in))
		if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %+v, %v; want %+v and %q", tc.name, got, err, tc.want, tc.err)
		}
	}
}
