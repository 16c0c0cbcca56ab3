package process

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// JSON goes to terminals too, and terminals obey more than what JSON escapes.
func TestJSONHoldsNothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	hostile := "a\u009b31mb\u007fc\u202ed\u2066e\u200bf\U000e0041g\x1b[2Jhi\u0301\u0301\u0301\u0301\u0301\u0301 é 漢 😀"
	var out bytes.Buffer
	if err := PrintJSON(&Program{Stdout: &out, Document: "Test"}, map[string]string{"k": hostile}); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) {
			t.Errorf("%U comes out as it is in %q", r, out.String())
		}
	}
	if bytes.Contains(out.Bytes(), []byte(strings.Repeat("\u0301", 5))) {
		t.Errorf("%s stacks marks", out.String())
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["k"] != hostile {
		t.Fatalf("back = %q, %v; want %q", back["k"], err, hostile)
	}
	if !bytes.Contains(out.Bytes(), []byte("é 漢 😀")) {
		t.Errorf("%s hides text that is harmless", out.String())
	}
}
