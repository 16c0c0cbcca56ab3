package process

import (
	"bytes"
	"testing"
)

// TestDocuments: version and kind come first, a list stands under items, and what has no
// fields is no document.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		v    any
		want string
	}{
		"object":     {struct{ A int }{1}, `{"apiVersion":"handrail.output/v1","kind":"K","A":1}` + "\n"},
		"list":       {[]int{1, 2}, `{"apiVersion":"handrail.output/v1","kind":"K","items":[1,2]}` + "\n"},
		"empty list": {[]int{}, `{"apiVersion":"handrail.output/v1","kind":"K","items":[]}` + "\n"},
		"text":       {"x", ""},
		"nothing":    {struct{}{}, ""},
		"null":       {nil, ""},
	} {
		var out bytes.Buffer
		err := PrintLine(&Program{Stdout: &out, Document: "K"}, tc.v)
		if out.String() != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%s: %q, %v; want %q", name, out.String(), err, tc.want)
		}
	}
}
