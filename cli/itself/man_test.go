package itself

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"handrail/cli/process"
)

// TestManualPages: a page for each command that help shows, in which no text is taken for a
// macro.
func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := &cobra.Command{Use: "handrail", Short: "Walk an incident", RunE: func(*cobra.Command, []string) error { return nil }}
	root.SetOut(io.Discard)
	sub := &cobra.Command{Use: "do THING", Short: "Do it", Long: "do does →:\n\n  .first\n  a\\b\n\n'quoted' at the start\n.so /etc/passwd", RunE: func(*cobra.Command, []string) error { return nil }}
	sub.Flags().StringP("file", "f", "", "read this `file`")
	hidden := &cobra.Command{Use: "__act", Hidden: true, RunE: func(*cobra.Command, []string) error { return nil }}
	root.AddCommand(sub, hidden, Man(&process.Program{}), &cobra.Command{Use: "topic", Short: "A topic", Long: "words"})
	root.SetArgs([]string{"man", dir})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, filepath.Base(f))
	}
	got := strings.Join(names, " ")
	for _, want := range []string{"handrail.1", "handrail-do.1", "handrail-topic.1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s has no %s", got, want)
		}
	}
	if strings.Contains(got, "__act") || strings.Contains(got, "man.1") {
		t.Errorf("hidden commands have pages: %s", got)
	}
	b, err := os.ReadFile(filepath.Join(dir, "handrail-do.1"))
	if err != nil {
		t.Fatal(err)
	}
	macros := map[string]bool{".TH": true, ".SH": true, ".B": true, ".BR": true, ".TP": true, ".PP": true, ".nf": true, ".fi": true}
	for line := range strings.Lines(string(b)) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") && !macros[word] || strings.HasPrefix(line, "'") {
			t.Errorf("roff would obey %q", line)
		}
	}
	for _, want := range []string{"do does \\[u2192]:\n", "handrail\\-do \\- Do it\n", "\\-f, \\-\\-file file\n", ".nf\n  .first\n  a\\eb\n.fi\n", ".BR handrail (1),\n"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the page has no %q:\n%s", want, b)
		}
	}
}
