package visible

import (
	"strings"
	"testing"
	"unicode"

	"handrail/evidence/corpus"
)

func TestString(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "pod/web-0 Running", "pod/web-0 Running"},
		{"colour is dropped", "\x1b[31;1mError\x1b[0m: x", "Error: x"},
		{"cursor movement is not", "\x1b[2Jx", `\x1b[2Jx`},
		{"unfinished colour", "a\x1b[31", `a\x1b[31`},
		{"clipboard", "\x1b]52;c;ZXZpbA==\x07", `\x1b]52;c;ZXZpbA==\x07`},
		{"C1 in one byte", "\x9b31m", `\x9b31m`},
		{"C1 in UTF-8", "\u009b31m", `\x9b31m`},
		{"carriage return", "safe\revil", `safe\x0devil`},
		{"CR LF", "a\r\nb", "a\nb"},
		{"backspace", "a\bb", `a\x08b`},
		{"DEL", "a\x7f", `a\x7f`},
		{"bidi", "a\u202eb", `a\u202eb`},
		{"zero width", "a\u200bb\ufeff", `a\u200bb\ufeff`},
		{"tags", "a\U000e0041", `a\U000e0041`},
		{"separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"not UTF-8", "a\xffb", `a\xffb`},
		{"NUL", "a\x00", `a\x00`},
		{"tab", "a\tb", "a       b"},
		{"tab after a wide start", "12345678\tb", "12345678        b"},
		{"letters stay", "Größe 東京 é ✓", "Größe 東京 é ✓"},
		{"invisible letter", "a\u3164", `a\u3164`},
		{"marks of one letter", "e\u0301 \u05e9\u05c1\u05b8\u05c2 \u0e01\u0e34\u0e48 a\u0302\u0303\u0323\u0331", "e\u0301 \u05e9\u05c1\u05b8\u05c2 \u0e01\u0e34\u0e48 a\u0302\u0303\u0323\u0331"},
		{"stacked marks", "a\u0301\u0302\u0303\u0304\u0305\u0306b\u0301", "a\u0301\u0302\u0303\u0304\\u0305\\u0306b\u0301"},
		{"marks of nothing", "\u0301 \u0301\"\u0301\n\u0301", "\\u0301 \\u0301\"\\u0301\n\\u0301"},
		{"marks over an escape", "\x1b\u0301\u200b\u0301", `\x1b\u0301\u200b\u0301`},
		{"marks through colour", "a\u0301\u0301\x1b[m\u0301\u0301\x1b[m\u0301", "a\u0301\u0301\u0301\u0301\\u0301"},
		{"enclosing marks", "1\u20e3 \u20e3", "1\u20e3 \\u20e3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := String(tc.in); string(got) != tc.want {
				t.Errorf("String(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	if got := Line("a\nb\r\nc"); got != "a⏎b⏎c" {
		t.Errorf("Line = %q", got)
	}
}

func FuzzString(f *testing.F) {
	kept, err := corpus.Values("FuzzString")
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range kept {
		text, _ := v[0].(string)
		f.Add(text)
	}
	for _, s := range []string{"", "a\x1b[0m", "\x1b\x1b[m[0m", "\t\r\n", "\u202e", "\xc2", "\x1b[\x1b[mm", "a\u0301\u0301\u0301\u0301\u0301\u0301", "\ufe0f\u0301", "\x1b[m\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(String(s))
		for _, r := range got {
			if r != '\n' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("String(%q) = %q holds %U", s, got, r)
			}
		}
		marks := mostMarks // at the beginning there is nothing to stand on
		for _, r := range got {
			if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
				marks = 0
			}
			if marks > mostMarks {
				t.Fatalf("String(%q) = %q stacks marks", s, got)
			}
		}
		if again := string(String(got)); again != got {
			t.Fatalf("String(%q) = %q, and again %q", s, got, again)
		}
		if strings.Contains(string(Line(s)), "\n") {
			t.Fatalf("Line(%q) has a newline", s)
		}
	})
}
