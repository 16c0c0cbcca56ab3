package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsNameRealTests: a table of what holds a promise is worth as much as its tests.
func TestDocumentsNameRealTests(t *testing.T) {
	t.Parallel()
	here := map[string][]string{} // the packages of each test
	written := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		pkg, _ := filepath.Rel("..", filepath.Dir(path))
		for _, m := range written.FindAllStringSubmatch(string(text), -1) {
			here[m[1]] = append(here[m[1]], filepath.ToSlash(pkg))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Names, then their package in brackets; a table may leave the package out.
	named := regexp.MustCompile("((?:`Test\\w+`(?:, )?)+)(?: \\(`([a-z][\\w/]*)`)?")
	one := regexp.MustCompile(`Test\w+`)
	count := 0
	for file, text := range documents(t) {
		if !strings.HasPrefix(filepath.Base(file), "coverage-") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			for _, name := range one.FindAllString(m[1], -1) {
				count++
				found := false
				for _, pkg := range here[name] {
					found = found || m[2] == "" || pkg == m[2]
				}
				if !found {
					t.Errorf("%s names %s in %q; it is in %q", file, name, m[2], here[name])
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("%d tests are named: the test looks for the wrong thing", count)
	}
}
