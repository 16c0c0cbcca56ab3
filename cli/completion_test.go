package cli

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/cli/process"
)

// TestEveryArgumentIsCompleted: each word by which a usage names an argument has something
// to offer, or is a path.
func TestEveryArgumentIsCompleted(t *testing.T) {
	t.Parallel()
	root := newRoot(&process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now})
	completed := 0
	for _, cmd := range leaves(root) {
		for _, word := range argumentsOf(cmd) {
			_, known := completing()[word]
			if known && cmd.ValidArgsFunction == nil {
				t.Errorf("%s does not complete its %s", cmd.CommandPath(), word)
			}
			if !known && !isPath(word) && word != "TEXT..." {
				t.Errorf("%s: nothing says how to complete %s", cmd.CommandPath(), word)
			}
			if known {
				completed++
			}
		}
	}
	if completed < 20 {
		t.Errorf("%d arguments are completed: the test looks for the wrong thing", completed)
	}
}

// TestCompletionOffersNothingThatATerminalObeys, and keeps what begins as it was begun.
func TestCompletionOffersNothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	got := beginning([]string{"state-lock\tabout", "state\x1b[2J", "stuck", "other"}, "st")
	if want := []string{"state-lock\tabout", "stuck"}; !slices.Equal(got, want) {
		t.Errorf("beginning() = %q, want %q", got, want)
	}
}
