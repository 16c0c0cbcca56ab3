package form

import (
	"maps"
	"testing"
)

// TestPairs: a line that begins with the name of another takes several apart; any other is
// what it says.
func TestPairs(t *testing.T) {
	t.Parallel()
	names := []string{"dir", "name", "patch", "copied", "wanted"}
	for line, want := range map[string]map[string]string{
		"name=web wanted=redis":                                    {"name": "web", "wanted": "redis"},
		"-p name=web  -p wanted='a b'":                             {"name": "web", "wanted": "a b"},
		`patch=[{"op":"replace","path":"/a","value":"x y"}] dir=.`: {"patch": `[{"op":"replace","path":"/a","value":"x y"}]`, "dir": "."},
		"copied=spec.env[name=HOST].value name=web":                {"copied": "spec.env[name=HOST].value", "name": "web"},
		"name=":          {"name": ""},
		"name=web x=1":   {"name": "web x=1"},
		"web name=x":     nil,
		"x=1 name=web":   nil,
		"":               nil,
		"a.b[name=HOST]": nil,
	} {
		if got := pairs(line, names); !maps.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("pairs(%q) = %q, want %q", line, got, want)
		}
	}
}

// FuzzPairs: what is taken apart was in the line, under the names that are known.
func FuzzPairs(f *testing.F) {
	f.Add("-p name=web dir='.'")
	f.Fuzz(func(t *testing.T, line string) {
		for name := range pairs(line, []string{"name", "dir"}) {
			if name != "name" && name != "dir" {
				t.Errorf("%q gives %s", line, name)
			}
		}
	})
}
