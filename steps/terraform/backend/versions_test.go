package backend

import (
	"strings"
	"testing"
)

// A state whose head is not where a tool writes it has no serial.
func TestParseHead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in, err string
		want          Head
	}{
		{"plain", `{"version":4,"terraform_version":"1","serial":7,"lineage":"l","resources":[`, "", Head{7, "l", "1"}},
		{"encrypted", `{"serial":3,"lineage":"l","meta":{"k":"v"},"encrypted_data":"x`, "", Head{3, "l", ""}},
		{"lineage after much", `{"version":4,"outputs":{"o":"` + strings.Repeat("x", headBytes) + `"},"serial":1,"lineage":"l"}`, "hold no serial", Head{}},
		{"no lineage", `{"version":4,"serial":7}`, "no serial or no lineage", Head{}},
		{"empty", ``, "hold no serial", Head{}},
		{"no object", `[]`, "an object should start here", Head{}},
		{"bad serial", `{"serial":"7","lineage":"l"}`, "no serial or no lineage", Head{}},
	} {
		got, err := parseHead(strings.NewReader(tc.in))
		if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %+v, %v; want %+v and %q", tc.name, got, err, tc.want, tc.err)
		}
	}
}
