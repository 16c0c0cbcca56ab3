package tfstate

import "testing"

// TestQuote holds keys to what tofu and terraform print for them.
func TestQuote(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"a b":           `"a b"`,
		"q\"\\":         `"q\"\\"`,
		"l\n\r\t":       `"l\n\r\t"`,
		"\x00nul":       `"\u0000nul"`,
		"\abell":        `"\u0007bell"`,
		"v\vt":          `"v\u000bt"`,
		"\x7fdel":       `"\u007fdel"`,
		"a\u00a0nb":     `"a\u00a0nb"`,
		"\u200bzw":      `"\u200bzw"`,
		"\u202ertl":     `"\u202ertl"`,
		"\U000e0001tag": `"\U000e0001tag"`,
		"\ufffdr":       "\"\ufffdr\"",
		"x${y}%{z}$%":   `"x$${y}%%{z}$%"`,
	} {
		if got := Quote(key); got != want {
			t.Errorf("Quote(%q) = %s, want %s", key, got, want)
		}
	}
}
