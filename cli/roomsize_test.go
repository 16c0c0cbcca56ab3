package cli

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// How much a room may hold before it is split.
const (
	mostFiles   = 40 // of a package
	mostInSteps = 30 // of a package below steps/
	mostOfModel = 80 // methods of the model of tui
)

// TestRoomsStaySmall: a package that a newcomer cannot hold in mind is split, and
// what a screen does is a method of the screen.
func TestRoomsStaySmall(t *testing.T) {
	t.Parallel()
	files, model := map[string]int{}, 0
	method := regexp.MustCompile(`(?m)^func \([a-z]+ \*?model\)`)
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		files[path.Dir(f)]++
		if path.Dir(f) == "tui" {
			src, err := os.ReadFile(path.Join("..", f))
			if err != nil {
				t.Fatal(err)
			}
			model += len(method.FindAll(src, -1))
		}
	}
	for dir, n := range files {
		most := mostFiles
		if strings.HasPrefix(dir, "steps/") {
			most = mostInSteps
		}
		if n > most {
			t.Errorf("%s has %d files without those of tests, at most %d: split it", dir, n, most)
		}
	}
	if model == 0 || model > mostOfModel {
		t.Errorf("the model of tui has %d methods, at most %d: give a screen its own", model, mostOfModel)
	}
}
