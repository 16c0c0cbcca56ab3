package jsontree

import "testing"

func TestOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"b": 1.50, "a": [true, null, 1e400], "": {}}`: `{"b":1.50,"a":[true,null,1e400],"":{}}`,
		`"\u0041\/\u00e9\ud83d\ude00"`:                  `"A/é😀"`,
		`"\u202e\u2028\u0085\u007f\b"`:                  `"\u202e\u2028\u0085\u007f\b"`,
		`"\udb40\udc01"`:                                `"\udb40\udc01"`,
		`"\ud83d \xff"`:                                 "",
		"\"\xff\"":                                      "\"\ufffd\"",
		`"\ud83d"`:                                      "\"\ufffd\"",
	} {
		n, err := Parse([]byte(in), StrictKeys)
		if want == "" {
			if err == nil {
				t.Errorf("Parse(%q) is taken", in)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q): %v", in, err)
			continue
		}
		got := string(n.AppendTo(nil, -1, 0))
		if got != want {
			t.Errorf("%q is written as %q, want %q", in, got, want)
		}
		if back, err := Parse([]byte(got), StrictKeys); err != nil || string(back.AppendTo(nil, -1, 0)) != got {
			t.Errorf("%q does not come back: %v", got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	deep := make([]byte, 2*maxDepth)
	for i := range deep {
		deep[i] = '['
	}
	for _, in := range []string{"", "{", `{"a"}`, `{"a":1,}`, `{a:1}`, `[1,]`, `1 2`, `"a`, "\"\n\"", `{"a":1,"a":2}`, `nil`, string(deep)} {
		if n, err := Parse([]byte(in), StrictKeys); err == nil {
			t.Errorf("Parse(%q) = %+v", in, n)
		}
	}
	if n, err := Parse([]byte(`{"a":1,"a":2}`), LooseKeys); err != nil || len(n.Members) != 2 {
		t.Errorf("loose keys: %+v, %v", n, err)
	}
}
