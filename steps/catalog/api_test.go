package catalog

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGatesOverHTTPKeepOneContract: each gate that writes over HTTP and is none of Kubernetes stands in the table of docs/safety.md,
// and a test of its package holds it to the contract there (stepstest.APICases).
func TestGatesOverHTTPKeepOneContract(t *testing.T) {
	t.Parallel()
	// The API server of Kubernetes has preconditions and rehearsals of its own, a program writes a state, and a sync is a field.
	apart := regexp.MustCompile(`^(kube|terraform|gitops)/`)
	var gates []string
	for _, k := range New().Kinds() {
		if k.Class.Gate() && !apart.MatchString(k.Name) {
			gates = append(gates, k.Name)
		}
	}
	raw, err := os.ReadFile("../../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(raw), "\n## Gates over HTTP\n")
	if !found {
		t.Fatal("docs/safety.md has no section Gates over HTTP")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+/[a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		rows = append(rows, m[1])
	}
	slices.Sort(rows)
	if !slices.Equal(gates, rows) {
		t.Errorf("docs/safety.md, Gates over HTTP, has %q, and the gates are %q", rows, gates)
	}
	tests, err := filepath.Glob("../*/api_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range tests {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "stepstest.APICases(") {
			all.Write(raw)
		}
	}
	for _, name := range gates {
		if !strings.Contains(all.String(), `"`+name+`"`) {
			t.Errorf("no api_test.go holds %s to the contract", name)
		}
	}
}
