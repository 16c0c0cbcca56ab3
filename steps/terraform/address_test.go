package terraform

import (
	"strings"
	"testing"
)

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"a.b", "module.m[\"x\"].a.b[0]", "data.a.b", `a.b["\""]`, "module.a", "a.b["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, ok := parseAddress(s)
		if !ok {
			return
		}
		if a.resource+a.key != s || a.typ == "" || a.name == "" || strings.HasPrefix(s, "-") {
			t.Errorf("parseAddress(%q) = %+v", s, a)
		}
	})
}
