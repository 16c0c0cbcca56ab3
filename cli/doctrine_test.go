package cli

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"handrail/runbooks"
	"handrail/steps/catalog"
	"handrail/triage"
)

var updateDoctrine = flag.Bool("update-doctrine", false, "write the tables of the loop into docs/doctrine.md")

const doctrinePage = "../docs/doctrine.md"

// doctrineTables are the tables of the loop as the page shows them, by the heading that each
// stands under.
func doctrineTables(t *testing.T) map[string][]string {
	t.Helper()
	row := func(cells ...any) string {
		var out []string
		for _, c := range cells {
			out = append(out, strings.ReplaceAll(fmt.Sprint(c), "|", `\|`))
		}
		return "| " + strings.Join(out, " | ") + " |"
	}
	head := func(names ...string) []string {
		return []string{"| " + strings.Join(names, " | ") + " |", strings.Repeat("| --- ", len(names)) + "|"}
	}
	ticks := func(list []string) string {
		if len(list) == 0 {
			return "only reads"
		}
		var out []string
		for _, x := range list {
			if x != triage.ByHand {
				x = "`" + x + "`"
			}
			out = append(out, x)
		}
		return strings.Join(out, ", ")
	}
	out := map[string][]string{}
	states := head("state", "it means", "example")
	for _, f := range triage.FailureStates() {
		states = append(states, row(f.Name, f.Means, f.Example))
	}
	domains := head("domain", "what fails there", "who owns the recovery")
	for _, d := range triage.Domains() {
		domains = append(domains, row(d.Title+" (`"+d.Slug+"`)", d.Fails, d.Owner))
	}
	severities := head("severity", "it means", "example", "handling")
	for _, l := range triage.SeverityLevels() {
		severities = append(severities, row(l.Level, l.Means, l.Example, l.Handling))
	}
	matrix := head("row", "failure", "mutation started", "states agree", "preferred action", "it begins with")
	for _, r := range triage.MatrixRows() {
		matrix = append(matrix, row(r.Number, r.Failure, r.Mutation.Text, r.Consistency.Text, r.Action, ticks(r.First)))
	}
	conditions := head("code", "it means")
	for _, c := range triage.PostConditions() {
		conditions = append(conditions, row(c.Code, c.Means))
	}
	pauses := head("gate", "loop", "scope")
	for _, p := range triage.PauseScopes() {
		pauses = append(pauses, row("`"+p.Kind+"`", p.Loop, p.Reach))
	}
	questions := head("question", "id in an answers file")
	for _, q := range triage.DriftQuestions() {
		questions = append(questions, row(q.Ask, "`"+q.ID+"`"))
	}
	items := head("code", "item")
	for _, e := range triage.EvidenceItems() {
		items = append(items, row(e.Code, e.Means))
	}
	books := head("runbook", "rows", "post-conditions", "another way, and why")
	for _, b := range library(t) {
		var rows, codes []string
		for _, n := range b.Matrix {
			rows = append(rows, fmt.Sprint(n))
		}
		for _, p := range b.Proves {
			var by []string
			for _, s := range p.Steps {
				by = append(by, strings.TrimPrefix(s, b.ID+"/"))
			}
			codes = append(codes, p.Code+" by "+strings.Join(by, " and "))
		}
		books = append(books, row(b.ID, strings.Join(rows, ", "), strings.Join(codes, "; "), b.Departs))
	}
	out["Failure states"], out["Failure domains"], out["Severities"], out["The decision matrix"] = states, domains, severities, matrix
	out["Post-conditions"], out["The smallest pause"], out["No blind refresh"], out["Evidence first"], out["The runbooks"] = conditions, pauses, questions, items, books
	return out
}

var libraryOnce = sync.OnceValues(func() ([]*runbooks.Runbook, error) { return runbooks.Library(catalog.New()) })

func library(t *testing.T) []*runbooks.Runbook {
	t.Helper()
	all, err := libraryOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tableUnder is where the first table under a heading of the page stands.
func tableUnder(page, heading string) (from, to int, ok bool) {
	m := regexp.MustCompile(`(?ms)^##+ ` + regexp.QuoteMeta(heading) + `\n.*?((?:^\|[^\n]*\n)+)`).FindStringSubmatchIndex(page)
	if m == nil {
		return 0, 0, false
	}
	return m[2], m[3], true
}

// TestDoctrineIsTheData: the tables of docs/doctrine.md are those that the loop goes by, row
// by row and word for word, and no other page has a copy.
func TestDoctrineIsTheData(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(doctrinePage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for heading, rows := range doctrineTables(t) {
		want := strings.Join(rows, "\n") + "\n"
		from, to, ok := tableUnder(page, heading)
		switch {
		case !ok:
			t.Errorf("%s has no table under %q", doctrinePage, heading)
		case page[from:to] != want && *updateDoctrine:
			page = page[:from] + want + page[to:]
		case page[from:to] != want:
			t.Errorf("the table under %q is not the data (-update-doctrine writes it):\n%s", heading, want)
		}
	}
	if *updateDoctrine {
		if err := os.WriteFile(doctrinePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	others, err := os.ReadDir("../docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range others {
		if !strings.HasSuffix(e.Name(), ".md") || e.Name() == "doctrine.md" {
			continue
		}
		text, err := os.ReadFile("../docs/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range triage.SeverityLevels() {
			if regexp.MustCompile(`(?m)^\| ` + string(l.Level) + ` \|`).Match(text) {
				t.Errorf("docs/%s has a copy of the severities", e.Name())
				break
			}
		}
		for _, d := range triage.Domains() {
			if strings.Contains(string(text), "| "+d.Title+" |") {
				t.Errorf("docs/%s has a copy of the domains", e.Name())
				break
			}
		}
	}
}

// TestDoctrineIsServed: what the page says serves a passage is there: each test that it
// names exists.
func TestDoctrineIsServed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(doctrinePage)
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z]+)(?:/[^`]*)?`").FindAllStringSubmatch(string(raw), -1)
	if len(named) < 15 {
		t.Fatalf("the page names %d tests: the table of passages is gone", len(named))
	}
	have := testsOf(t)
	for _, m := range named {
		if !slices.Contains(have, m[1]) {
			t.Errorf("docs/doctrine.md names %s, which is no test", m[1])
		}
	}
}

// testsOf lists the tests of the repository by their names.
func testsOf(t *testing.T) []string {
	t.Helper()
	var out []string
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z]+)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(src, -1) {
			out = append(out, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMatrixNamesKinds: what the tables say of kinds of gates is of gates that there are.
func TestMatrixNamesKinds(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	var kinds []string
	for _, r := range triage.MatrixRows() {
		kinds = append(append(kinds, r.First...), r.Then...)
	}
	kinds = append(kinds, triage.RecordKinds()...)
	for _, p := range triage.PauseScopes() {
		kinds = append(kinds, p.Kind)
	}
	for _, name := range kinds {
		if k, ok := cat.Lookup(name); name != triage.ByHand && (!ok || k.Changes == nil) {
			t.Errorf("%q is no gate", name)
		}
	}
}
