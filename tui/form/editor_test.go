package form

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// TestTokenIsCovered: what is typed of a token behind its header is on no screen, at any letter, and
// the cursor stands where it stood.
func TestTokenIsCovered(t *testing.T) {
	t.Parallel()
	const head, rest = "eyJhbGciOiJSUzI1NiJ9", ".c2VjcmV0LTgxNzIz.c2lnLTU1MTE5"
	var e Editor
	for _, r := range "token=" + head + rest + " x" {
		e.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
		row, at := e.Draw(ink.Ink{}, 200)
		for _, part := range []string{"c2Vj", "c2ln"} {
			if strings.Contains(string(row), part) {
				t.Fatalf("%q is shown: %s", part, row)
			}
		}
		if want := len(e.Value()); at != want {
			t.Fatalf("the cursor is at %d, want %d", at, want)
		}
	}
	if row, _ := e.Draw(ink.Ink{}, 200); !strings.Contains(string(row), "token="+head+"*") || !strings.Contains(string(row), "* x") {
		t.Errorf("%s", row)
	}
	if !strings.HasSuffix(e.Value(), rest+" x") {
		t.Error("the text itself was changed")
	}
}
