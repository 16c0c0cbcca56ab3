package configuration

import (
	"strings"
	"testing"
)

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"a.b", "module.m[\"x\"].a.b[0]", "data.a.b", `a.b["\""]`, "module.a", "a.b["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, ok := ParseAddress(s)
		if !ok {
			return
		}
		if a.Resource+a.key != s || a.Type == "" || a.name == "" || strings.HasPrefix(s, "-") {
			t.Errorf("ParseAddress(%q) = %+v", s, a)
		}
	})
}
