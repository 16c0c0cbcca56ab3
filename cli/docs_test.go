package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/steps/catalog"
)

// documents are the texts whose paths and commands must exist.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range append(files, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md", "../SECURITY.md") {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[f] = string(src)
	}
	return texts
}

var (
	mdLink  = regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	mdCode  = regexp.MustCompile("`([^`\n]+)`")
	ourPath = regexp.MustCompile(`^(?:(?:cli|tui|triage|runbooks|session|steps|evidence|drills|lab|docs|\.ci)(?:/[\w.-]+)*/?|[\w.-]+\.(?:md|tape|go|mod)|Makefile)$`)
)

func TestDocumentsNameRealPaths(t *testing.T) {
	t.Parallel()
	count := 0
	for file, text := range documents(t) {
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], ":") {
				count++
				mustExist(t, file, filepath.Join(filepath.Dir(file), m[1]), m[1])
			}
		}
		for _, m := range mdCode.FindAllStringSubmatch(text, -1) {
			// A bundle's own files are no files of the repository, and ID is one to come.
			if ourPath.MatchString(m[1]) && m[1] != "report.md" && !strings.Contains(m[1], "/ID") {
				count++
				mustExist(t, file, filepath.Join("..", m[1]), m[1])
			}
		}
	}
	if count == 0 {
		t.Error("the documents name no path at all: the test looks for the wrong thing")
	}
}

func mustExist(t *testing.T, file, path, named string) {
	t.Helper()
	// The picture is made by `make demo`, and not kept in the repository.
	if strings.HasSuffix(path, "demo.gif") {
		return
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s names %s, which does not exist", file, named)
	}
}

var shown = regexp.MustCompile("(?m)(?:^ {4}|`)(handrail [a-z][^`\n#]*)")

func TestDocumentsNameRealCommands(t *testing.T) {
	t.Parallel()
	count := 0
	for file, text := range documents(t) {
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			for _, line := range alternatives(m[1]) {
				count++
				words := strings.Fields(line)[1:]
				if words[0] == "help" {
					words = words[1:]
				}
				root := newRoot(&process.Program{})
				root.InitDefaultCompletionCmd() // cobra adds it as it runs
				cmd, rest, err := root.Find(words)
				if err != nil {
					t.Errorf("%s shows %q: %v", file, line, err)
					continue
				}
				if !cmd.HasParent() || cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
					t.Errorf("%s shows %q, which is no command", file, line)
				}
			}
		}
	}
	if count == 0 {
		t.Error("the documents show no command at all: the test looks for the wrong thing")
	}
}

// TestGatesAreInTheSafetyDocument: what a gate asks to be typed, where it stays shut and
// how it is undone.
func TestGatesAreInTheSafetyDocument(t *testing.T) {
	t.Parallel()
	var rows []string
	for line := range strings.Lines(documents(t)["../docs/safety.md"]) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| ") {
			rows = append(rows, cell)
		}
	}
	for _, k := range catalog.New().Kinds() {
		if k.Class.Gate() && !slices.ContainsFunc(rows, func(cell string) bool { return strings.Contains(cell, "`"+k.Name+"`") }) {
			t.Errorf("docs/safety.md has no row for the gate %s", k.Name)
		}
	}
}

// alternatives spells out `handrail lab up|down`.
func alternatives(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if i > 0 && i < 3 && strings.Contains(w, "|") {
			var out []string
			for _, one := range strings.Split(w, "|") {
				out = append(out, strings.Join(append(append([]string{}, words[:i]...), one), " "))
			}
			return out
		}
	}
	return []string{line}
}

var (
	cited    = regexp.MustCompile(`\(docs/(\w+\.md), ([A-Z][\w ]*?)\)|docs/(\w+\.md), ([A-Z]\w*):`)
	wrapped  = regexp.MustCompile(`\n\s*//\s*`)
	headings = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestDocumentsHaveTheSectionsThatCommentsCite also keeps comments from citing a
// document that the repository does not hold.
func TestDocumentsHaveTheSectionsThatCommentsCite(t *testing.T) {
	t.Parallel()
	sections, count := map[string]bool{}, 0
	for file, text := range documents(t) {
		for _, m := range headings.FindAllStringSubmatch(text, -1) {
			sections[filepath.Base(file)+", "+m[1]] = true
		}
	}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range cited.FindAllStringSubmatch(wrapped.ReplaceAllString(string(src), " "), -1) {
			count++
			if at := m[1] + m[3] + ", " + m[2] + m[4]; !sections[at] {
				t.Errorf("%s cites docs/%s, which does not exist", path, at)
			}
		}
		return nil
	})
	if err != nil || count == 0 {
		t.Errorf("%d citations found: %v", count, err)
	}
}
