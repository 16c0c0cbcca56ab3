package strict

import (
	"errors"
	"io"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestSingle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a: 1\n":          "",
		"---\na: 1\n":     "",
		"":                "none",
		"# nothing\n":     "none",
		"a: 1\n---\nb: 2": "second",
		"a: 1\n---\n":     "second",
		"a: 1\n---\n[":    "second",
		"a: [":            "syntax",
	} {
		root, err := Single([]byte(in))
		var second *SecondError
		got := ""
		switch {
		case errors.Is(err, io.EOF):
			got = "none"
		case errors.As(err, &second):
			got = "second"
		case err != nil:
			got = "syntax"
		}
		if got != want || (err == nil) != (root != nil) {
			t.Errorf("Single(%q) = %v, %v, want %q", in, root, err, want)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Oddity{
		"a: 1\nb: 2\n":        Plain,
		"[a]":                 NoMapping,
		"a: 1\na: 2\n":        Repeated,
		"a: 1\nc: 2\n":        UnknownKey,
		"{[a]: 1}":            NoWord,
		"b: &x {}\n<<: *x\n":  NoWord,
		"a: !!str 1\nb: *x\n": "no YAML",
	} {
		root, err := Single([]byte(in))
		if err != nil {
			if want != "no YAML" {
				t.Errorf("%q: %v", in, err)
			}
			continue
		}
		out, at, why := Members(root, "a", "b")
		if why != want || (why == Plain) != (out != nil) || why != Plain && at == nil {
			t.Errorf("Members(%q) = %v, %v, %q, want %q", in, out, at, why, want)
		}
	}
	if _, _, why := Members(nil); why != NoMapping {
		t.Errorf("Members(nil) = %q", why)
	}
}

func TestOdd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Oddity{
		"a: [1, {b: 2}]": Plain, "a: &x 1": Anchor, "a: !!str 1": Tagged, "a: !x {}": Tagged, "a: [&x 1, *x]": Anchor,
	} {
		root, err := Single([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if at, why := OddIn(root); why != want || (at == nil) != (why == Plain) {
			t.Errorf("OddIn(%q) = %v, %q, want %q", in, at, why, want)
		}
	}
	if why := Odd(&yaml.Node{Kind: yaml.AliasNode}); why != Alias {
		t.Errorf("Odd(alias) = %q", why)
	}
}
