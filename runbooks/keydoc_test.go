package runbooks

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryKeyIsExplained: the page for authors has a row for each kind of step and for each
// key, in the words of the schema, and no row of a key that there is not.
func TestEveryKeyIsExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/authoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## 8. Every key\n")
	var want []string
	keys := bookKeys()
	code := func(words []string) string { return "`" + strings.Join(words, "` `") + "`" }
	common := strings.Fields("id title say help show")
	for _, f := range forms() {
		own := slices.DeleteFunc(strings.Fields(f.keys), func(k string) bool { return slices.Contains(common, k) })
		want = append(want, fmt.Sprintf("| `%s` | %s |", f.key, code(own)))
		keys = append(append(keys, f.key), strings.Fields(f.keys)...)
	}
	for _, of := range []string{"a parameter", "a pattern", "a finding", "a case", "a proposal", "a requirement", "a fact", "a next runbook"} {
		want = append(want, fmt.Sprintf("| %s | %s |", of, code(parts(of))))
		keys = append(keys, parts(of)...)
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return slices.Contains(phaseKeys(), k) && k != "compare" })
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if keyDocs[k] == "" {
			t.Errorf("nothing says what stands under %s", k)
		}
		want = append(want, fmt.Sprintf("| `%s` | %s |", k, keyDocs[k]))
	}
	var got []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| --") && !strings.HasSuffix(line, "|  |\n") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	got = slices.DeleteFunc(got, func(l string) bool {
		return strings.HasPrefix(l, "| a step with ") || strings.HasPrefix(l, "| an item of ") || strings.HasPrefix(l, "| key ")
	})
	if !slices.Equal(got, want) {
		t.Errorf("the section is to have these rows:\n%s\nit has\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}
