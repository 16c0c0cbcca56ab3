package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what comes out to the golden files")

// stored gives every artifact the same few lines.
func stored(text string) Open {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// surfaces are all forms that hold a whole document.
func surfaces(artifact string) map[string]func(io.Writer, Document) error {
	return map[string]func(io.Writer, Document) error{
		"report.md": WriteMarkdown, "report.html": WriteHTML, "report.json": WriteJSON, "timeline.csv": WriteCSV, "timeline.jsonl": WriteJSONLines,
		"v3.cast":       func(w io.Writer, d Document) error { return WriteCast(w, d, 3, stored(artifact)) },
		"v2.cast":       func(w io.Writer, d Document) error { return WriteCast(w, d, 2, stored(artifact)) },
		"analysis.json": analysis,
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, write := range surfaces("line one\nline two\n") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := write(&b, whole(t, itself, -1)); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestGoldenStatus(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	bodies := story(itself)
	for n := range len(bodies) + 1 {
		// The moments at which a reader would ask.
		if n == 0 || n == 4 || n == 13 || n == 28 || n == 31 || n == 34 || n == len(bodies) {
			b.WriteString(Status(fold(t, bodies, n)) + "\n")
		}
	}
	golden(t, "status.txt", b.Bytes())
}

func TestGoldenDiff(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	bodies := story(itself)
	if err := WriteComparison(&b, Compare(fold(t, bodies, -1), fold(t, bodies, 20))); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", name, d)
	}
}
