package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"handrail/evidence/visible"
)

// Output is the -o flag of the commands that read.
type Output string

const (
	asText Output = "text"
	AsJSON Output = "json"
)

func (o *Output) String() string { return string(*o) }

// Type names the values in the help.
func (o *Output) Type() string { return "text|json" }

// Set implements pflag.Value.
func (o *Output) Set(s string) error {
	switch Output(s) {
	case asText, AsJSON:
		*o = Output(s)
		return nil
	}
	return fmt.Errorf("%q is neither text nor json", s)
}

// OutputFlag gives cmd its -o flag.
func OutputFlag(cmd *cobra.Command) *Output {
	o := asText
	cmd.Flags().VarP(&o, "output", "o", "how to print")
	return &o
}

// PrintJSON writes v as indented JSON. Control characters come out escaped, so
// that the data is complete and a terminal is safe all the same.
func PrintJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// escaped writes the control and format characters that encoding/json lets
// pass as JSON escapes: C1 controls steer terminals, direction marks turn text
// around, stacked marks climb over the lines beside. Outside of strings JSON has none of them but the newline.
func escaped(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	var over visible.Stack
	for _, r := range string(doc) {
		loose := over.Loose(r)
		switch {
		case r == '\n' || !loose && !unicode.In(r, unicode.Cc, unicode.Cf):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// Table writes rows in aligned columns; each cell is made harmless.
func Table(w io.Writer, head []string, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(head, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = Safe(c)
			if cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// Lines prints a paragraph of outside text, each line behind indent.
func Lines(w io.Writer, indent, text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintln(w, strings.TrimRight(indent+Safe(line), " "))
	}
}

// OrEmpty makes a nil list come out as [] rather than null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Counted is "1 file" or "2 files".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
