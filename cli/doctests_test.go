package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/drills"
	"handrail/runbooks"
	"handrail/steps/catalog"
	"handrail/triage"
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

// TestCoverageNamesRealSteps: a row of a table `passage | step | walked by` names steps of
// its runbook, drills with their variants, and cases of its test.
func TestCoverageNamesRealSteps(t *testing.T) {
	t.Parallel()
	library, err := runbooks.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{} // of steps and parameters, by runbook
	walks := map[string][]string{} // those that a drill can go through
	for _, rb := range library {
		for _, s := range rb.Steps {
			names[rb.ID] = append(names[rb.ID], s.ID)
			if s.Kind != triage.NoteStep {
				walks[rb.ID] = append(walks[rb.ID], s.ID)
			}
		}
		for _, p := range rb.Params {
			names[rb.ID] = append(names[rb.ID], p.Name)
		}
	}
	rows, err := drills.List(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	scenes := []string{}
	seen := map[string]string{} // what the drills of a runbook go through, and what they answer
	for _, r := range rows {
		files, err := filepath.Glob("../drills/library/" + r.ID + ".*")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, ".path") || strings.HasSuffix(f, ".answers.yaml") {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				seen[r.Runbook] += "\n" + string(text)
			}
		}
		scenes = append(scenes, r.ID)
		for _, v := range r.Variants {
			scenes = append(scenes, v, r.ID+" ("+v+")")
		}
	}
	step := regexp.MustCompile("`([a-z][a-z0-9_]*)(?:\\.[a-z_]+)?`")
	scene := regexp.MustCompile("`([a-z][a-z0-9-]*(?: \\([a-z-]+\\))?)`")
	aside := regexp.MustCompile(`\([^)]*\)`)
	quoted := regexp.MustCompile(`"([^"]+)"`)
	witness := regexp.MustCompile("drill|variant|case|trial|runbook test|`Test|refused in")
	others := regexp.MustCompile("variant|case|trial|runbook test|`Test|refused")
	heading := regexp.MustCompile("^## (?:.*\\(`)?([a-z-]+)(?:`\\))?$")
	served := map[string]bool{}
	for file, text := range documents(t) {
		if !strings.HasPrefix(filepath.Base(file), "coverage-") {
			continue
		}
		at, table := "", false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if m := heading.FindStringSubmatch(line); m != nil {
				at = m[1]
			}
			cells := strings.Split(strings.Trim(line, "|"), " | ")
			switch {
			case !strings.HasPrefix(line, "|"):
				table = false
				continue
			case strings.HasPrefix(line, "| passage | step |"):
				table = true
				continue
			case !table || strings.HasPrefix(line, "| ---"):
				continue
			case len(cells) != 3:
				t.Errorf("%s: %d cells: %s", file, len(cells), line)
				continue
			}
			book := at
			if first, _, _ := strings.Cut(strings.TrimSpace(cells[1]), " "); names[first] != nil {
				book = first
			}
			walked := cells[2]
			if !witness.MatchString(walked) {
				t.Errorf("%s: nothing walks it: %s", file, line)
			}
			alone := strings.Contains(walked, "drill") && !others.MatchString(walked)
			for _, m := range step.FindAllStringSubmatch(aside.ReplaceAllString(cells[1], ""), -1) {
				served[book] = true
				if !slices.Contains(names[book], m[1]) {
					t.Errorf("%s: %q has no step %s: %s", file, book, m[1], line)
				} else if alone && slices.Contains(walks[book], m[1]) && !regexp.MustCompile(`(?m)^(\w+| ) `+m[1]+`\b`).MatchString(seen[book]) {
					t.Errorf("%s: no drill of %s comes to %s: %s", file, book, m[1], line)
				}
			}
			if _, after, ok := strings.Cut(walked, "drill"); ok {
				for _, m := range scene.FindAllStringSubmatch(after, -1) {
					if names[m[1]] == nil && !slices.Contains(scenes, m[1]) {
						t.Errorf("%s: no drill or variant %s: %s", file, m[1], line)
					}
				}
			}
			if !strings.Contains(walked, "case") {
				continue
			}
			_, cases, err := runbooks.LibraryTest(book)
			if err != nil {
				t.Errorf("%s: %v: %s", file, err, line)
			}
			for _, m := range quoted.FindAllStringSubmatch(walked, -1) {
				if !strings.Contains(string(cases), "name: "+m[1]) && !strings.Contains(string(cases), `name: "`+m[1]) && !strings.Contains(string(cases), "name: '"+m[1]) {
					t.Errorf("%s: %s has no case %q", file, book, m[1])
				}
			}
		}
	}
	for _, rb := range library {
		if !served[rb.ID] {
			t.Errorf("no table of docs/ says which step of %s serves which passage", rb.ID)
		}
	}
}
