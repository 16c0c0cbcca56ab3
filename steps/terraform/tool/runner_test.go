package tool

import (
	"slices"
	"strings"
	"testing"
)

// TestRunIsTold: whole lines come while the program runs, of both streams, and
// what it came to is as without.
func TestRunIsTold(t *testing.T) {
	t.Parallel()
	var told []string
	script := `printf 'a\r\nb\nc'; printf 'e\nf' >&2; head -c 100000 /dev/zero | tr '\0' x`
	r, err := RunTold(t.Context(), t.TempDir(), []string{"PATH=/usr/bin:/bin"}, func(l string) { told = append(told, l) }, "/bin/sh", "-c", script)
	if err != nil || string(r.Stderr) != "e\nf" || len(r.Stdout) != len("a\r\nb\nc")+100_000 {
		t.Fatalf("RunTold() = %d bytes, %q, %v", len(r.Stdout), r.Stderr, err)
	}
	for _, want := range []string{"a", "b", "e", "f"} {
		if !slices.Contains(told, want) {
			t.Errorf("%q was not told", want)
		}
	}
	long := 0
	for _, l := range told {
		if strings.HasPrefix(l, "c") || strings.Trim(l, "x") == "" {
			long += len(l)
		}
	}
	if long != 100_001 {
		t.Errorf("%d bytes of a line without an end were told", long)
	}
}
