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

// OutputVersion is the schema of what -o json prints. Within it a document may gain
// fields; no field goes or changes its meaning.
const OutputVersion = "handrail.output/v1"

// KindOf is the kind of the document that a command prints: the words of its path.
func KindOf(cmd *cobra.Command) string {
	kind := ""
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		word := ""
		for part := range strings.SplitSeq(cmd.Name(), "-") {
			word += strings.ToUpper(part[:1]) + part[1:]
		}
		kind = word + kind
	}
	if kind == "" {
		return "Home"
	}
	return kind
}

// PrintJSON prints v as the document of the command that runs, indented. Control
// characters come out escaped, so that the data is complete and a terminal is safe all
// the same.
func PrintJSON(p *Program, v any) error { return PrintKind(p, p.Document, v) }

// PrintKind is [PrintJSON] for a command that prints documents of several kinds.
func PrintKind(p *Program, kind string, v any) error {
	doc, err := document(kind, v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = p.Stdout.Write(escaped(b.Bytes()))
	return err
}

// PrintLine is [PrintJSON] for what comes over time: each document is one line.
func PrintLine(p *Program, v any) error {
	doc, err := document(p.Document, v)
	if err != nil {
		return err
	}
	_, err = p.Stdout.Write(append(escaped(doc), '\n'))
	return err
}

// document puts version and kind before the fields of v; a list becomes its items.
func document(kind string, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	body := bytes.TrimSpace(b.Bytes())
	switch {
	case len(body) > 0 && body[0] == '[':
		body = append(append([]byte(`"items":`), body...), '}')
	case len(body) > 2 && body[0] == '{':
		body = body[1:]
	default:
		return nil, fmt.Errorf("%s has no fields: %T", kind, v)
	}
	return append(fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,`, OutputVersion, kind), body...), nil
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
