package cli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// documented compares what a walk took with the table of the manual. A slow
// machine may make a person look twice, and the name of a temporary directory
// is longer at times: so much may differ, and no more.
func (w *walker) documented(drill string) {
	w.t.Helper()
	row := strokes(w.t, drill)
	w.t.Logf("%s took %d keys and %d characters, %d keys on %d screens to the first armed gate", drill, w.keys, w.typed, w.armed, w.screens)
	if w.armed > mostToArmed {
		w.t.Errorf("%s took %d keys from the pasted error to the armed gate, at most %d are allowed", drill, w.armed, mostToArmed)
	}
	if w.screens > mostScreens {
		w.t.Errorf("%s took %d screens from the pasted error to the armed gate, at most %d are allowed", drill, w.screens, mostScreens)
	}
	if off(w.keys, row[0]) > 4 || off(w.typed, row[1]) > 20 {
		w.t.Errorf("%s took %d keys and %d characters; docs/interface.md says %d and %d", drill, w.keys, w.typed, row[0], row[1])
	}
}

// mostToArmed is how many keys, the words apart, lead from a pasted error to an armed
// gate where everything can be read.
const mostToArmed = 12

// mostScreens is on how many screens these are pressed.
const mostScreens = 10

func off(a, b int) int { return max(a-b, b-a) }

// strokes is the row of a drill in the manual: keys, characters, characters in a
// shell.
func strokes(t *testing.T, drill string) (row [3]int) {
	t.Helper()
	m := regexp.MustCompile(`(?m)^\| ` + drill + ` \| (\d+) \| (\d+) \| (\d+) \|$`).FindStringSubmatch(manual(t))
	if m == nil {
		t.Fatalf("docs/interface.md has no row for %s", drill)
	}
	for i := range row {
		row[i], _ = strconv.Atoi(m[i+1]) // digits, by the pattern
	}
	return row
}

func manual(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("../docs/interface.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// TestShellRecipesAreCounted holds the table against the recipes below it.
func TestShellRecipesAreCounted(t *testing.T) {
	t.Parallel()
	for _, drill := range []string{"killed-runner", "orphan-hook"} {
		_, recipe, ok := strings.Cut(manual(t), "```sh "+drill+"\n")
		recipe, _, closed := strings.Cut(recipe, "```")
		if !ok || !closed {
			t.Fatalf("docs/interface.md has no recipe for %s", drill)
		}
		got := utf8.RuneCountInString(recipe) - strings.Count(recipe, "\n")
		if want := strokes(t, drill)[2]; got != want {
			t.Errorf("the recipe of %s has %d characters, the table says %d", drill, got, want)
		}
	}
}
