package bundle

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
)

// maxValues bounds the file of values that are to be hidden.
const maxValues = 1 << 20

// redactedAgain is the public form of a bundle that was redacted again.
type redactedAgain struct {
	Path    string `json:"path"`
	ID      string `json:"id"`
	From    string `json:"from"` // the bundle that it was made from
	Root    string `json:"root"` // of that one
	Entries int64  `json:"entries"`
	Blobs   int    `json:"blobs"`
}

func bundleRedact(p *process.Program) *cobra.Command {
	var values, why string
	cmd := &cobra.Command{
		Use: "redact BUNDLE", Short: "Make a new bundle in which more is hidden; the old one stays as it is",
		Long: `redact makes a new bundle beside an old one: the same entries, with the same numbers
and times, through the rules of today and with further values hidden, one of them on
each line of the file. Its entry 0 names the old bundle and its root, who did this and
why. Seals are made anew and are not signed; recorded anchors stay the old bundle's.

The old bundle holds what you want hidden and is not touched: keep it where fewer
people can read it. ` + "`handrail bundle verify NEW --from OLD`" + ` proves that the two differ
in nothing but hidden values. Where a gate was judged from a value that is hidden now,
verify says of the new one that the laws of the loop do not hold; the old one shows
that they did.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	cmd.Flags().StringVar(&values, "values-file", "", "hide each line of this `file` wherever it stands; - is stdin")
	cmd.Flags().StringVar(&why, "reason", "", "why, in a few `words`: recorded in the new bundle")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if values == "" || strings.TrimSpace(why) == "" {
			return process.Usage("values never go on the command line, where others can see them", "bundle redact needs --values-file FILE and --reason WORDS")
		}
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		hidden, err := readValues(p, values)
		if err != nil {
			return err
		}
		c, err := Keeper(p)
		if err != nil {
			return err
		}
		how := evidence.Again{Values: append(hidden, settings.KnownSecrets(p)...), Actor: c.Actor.ID, Reason: why}
		got, err := evidence.RedactAgain(cmd.Context(), path, how, evidence.Options{Now: c.Now, Keys: c.Keys, Version: c.Version, Team: c.Redaction})
		handled(p, path, evidence.Handling{What: "redact", Place: got.Path}, err)
		if err != nil {
			return ResumeError(err)
		}
		if *o == process.AsJSON {
			return process.PrintJSON(p, redactedAgain{got.Path, got.ID, got.From.ID, got.From.Root, got.Entries, got.Blobs})
		}
		fmt.Fprintf(p.Stdout, "%s: redacted again from %s; something was hidden in %d entries and %d blobs\n", process.Safe(got.Path), process.Safe(got.From.ID), got.Entries, got.Blobs)
		_, err = fmt.Fprintf(p.Stdout, "prove it beside the old one: handrail bundle verify %s --from %s\n", process.Safe(got.Path), process.Safe(path))
		return err
	}
	return cmd
}

// readValues reads what is to be hidden. A message never holds one.
func readValues(p *process.Program, name string) ([]string, error) {
	in := p.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, process.Usage("name a text file, or - for stdin", "--values-file: %w", err)
		}
		defer f.Close()
		in = f
	}
	limited := &io.LimitedReader{R: in, N: maxValues + 1}
	var out []string
	s := bufio.NewScanner(limited)
	s.Buffer(nil, maxValues)
	for n := 1; s.Scan(); n++ {
		v := strings.TrimRight(s.Text(), "\r")
		switch {
		case strings.TrimSpace(v) == "":
		case len(v) < 8:
			return nil, process.Usage("a shorter one would hit ordinary text; give what stands around it as well", "line %d of the values is shorter than 8 bytes", n)
		default:
			out = append(out, v)
		}
	}
	if s.Err() != nil || limited.N == 0 {
		return nil, process.Usage("split it", "the values cannot be read or exceed %d bytes", maxValues)
	}
	if len(out) == 0 {
		return nil, process.Usage("write one value on each line", "there are no values in %q", name)
	}
	return out, nil
}
