package redact

import (
	"regexp"
	"strings"
	"testing"

	"handrail/evidence/jsontree"
)

var hiddenText = regexp.MustCompile(`"<redacted:withheld:[0-9a-f]+>"`)

// TestSuspect: of a document that is broken nothing is kept whose mark cannot be
// seen, and no field that does not belong where it stands.
func TestSuspect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, key, in, want string }{
		{"marked", "", `{"value":"a","sensitive":false}`, `{"value":"a","sensitive":false}`},
		{"without its mark", "", `{"value":"a","type":"b"}`, `{"value":?,"type":"b"}`},
		{"a group without its mark", "", `{"before":{"x":["a"]},"after":{"x":"b"},"after_sensitive":{}}`, `{"before":{"x":[?]},"after":{"x":"b"},"after_sensitive":{}}`},
		{"of the name of its place", "value", `{"value":"a"}`, `{"value":"a"}`},
		{"of another place", "x", `{"value":"a"}`, `{"value":?}`},
		{"deeper", "", `{"a":[{"value":"b"}]}`, `{"a":[{"value":?}]}`},
		{"in a list of its name", "", `{"value":[{"value":"b"}],"sensitive":true}`, `{"value":[{"value":"b"}],"sensitive":true}`},
		{"names of marks", "", `{"sensitive_attributes":[{"value":"a"}],"attributes":{"x":"b"}}`, `{"sensitive_attributes":[{"value":"a"}],"attributes":{"x":"b"}}`},
		{"an instance", "", `{"schema_version":0,"attributes":{"x":"a"},"sensitive_attributes":[]}`, `{"schema_version":0,"attributes":{"x":"a"},"sensitive_attributes":[]}`},
		{"an instance with a stray field", "", `{"schema_version":0,"stray":"a"}`, `{"schema_version":0,"stray":?}`},
		{"an instance by its place", "", `{"instances":[{"deposed":"a","stray":"b"}]}`, `{"instances":[{"deposed":"a","stray":?}]}`},
		{"an object", "", `{"apiVersion":"v1","kind":"x"}`, `{"apiVersion":"v1","kind":"x"}`},
		{"an object with a stray field", "", `{"apiVersion":"v1","stray":"a"}`, `{"apiVersion":"v1","stray":?}`},
		{"an object of a list", "", `{"items":[{"kind":"x","stray":"a"}]}`, `{"items":[{"kind":"x","stray":?}]}`},
		{"an object of a row", "", `{"object":{"kind":"x","stray":"a"}}`, `{"object":{"kind":"x","stray":?}}`},
		{"what is neither", "", `{"stray":"a"}`, `{"stray":"a"}`},
	} {
		n, err := jsontree.Parse([]byte(tc.in), jsontree.LooseKeys)
		if err != nil {
			t.Fatal(err)
		}
		r, err := New([]byte("0123456789abcdef0123456789abcdef"), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := Counts{}
		r.suspect(tc.key, n, c)
		got := strings.Join(strings.Fields(hiddenText.ReplaceAllString(string(n.AppendTo(nil, 0, 0)), "?")), "")
		if got != strings.Join(strings.Fields(tc.want), "") {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		if c["withheld"] != strings.Count(tc.want, "?") {
			t.Errorf("%s: %v counted", tc.name, c)
		}
	}
}
