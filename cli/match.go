package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
)

// hit is the public form of a runbook that recognises a text.
type hit struct {
	Runbook string            `json:"runbook"`
	Title   string            `json:"title"`
	Score   int               `json:"score"`
	Line    string            `json:"line"`
	Pattern string            `json:"pattern"`
	Say     string            `json:"say,omitempty"`
	Groups  map[string]string `json:"groups,omitempty"`
}

func matchCommand(p *process.Program) *cobra.Command {
	var file string
	var plain bool
	cmd := &cobra.Command{
		Use: "match", Short: "Rank the runbooks for an error text on stdin or in a file",
		Long: `match reads an error text, as it was pasted, and ranks the runbooks that recognise
it. On a terminal it opens the screens with the text, also where that comes through a
pipe: terraform apply 2>&1 | handrail match. Elsewhere, and with --plain, it prints
them, and ends with 3 when there is none.`,
		Args: process.Exactly(),
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "read this `file` instead of stdin")
	cmd.Flags().BoolVar(&plain, "plain", false, "print the runbooks instead of drawing screens")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		keys, screens := (*os.File)(nil), false
		if !plain && *o != process.AsJSON {
			keys, screens = onTerminal(p)
		}
		if screens && file == "" && keys == nil {
			return matchOnScreen(cmd.Context(), p, "", nil)
		}
		text, err := pasted(p, file)
		if screens && err == nil {
			return matchOnScreen(cmd.Context(), p, text, keys)
		}
		if err != nil {
			return err
		}
		lib, err := settings.Library(p)
		if err != nil {
			return err
		}
		hits := runbooks.Match(lib, text)
		if *o == process.AsJSON {
			out := []hit{}
			for _, h := range hits {
				out = append(out, hit(h))
			}
			err = process.PrintJSON(p.Stdout, out)
		} else {
			printHits(p.Stdout, hits)
			like, err := alike(p, text)
			if err != nil { // the runbooks are what was asked for
				fmt.Fprintf(p.Stderr, "handrail: the incidents of this machine were not searched: %s\n", process.Safe(err.Error()))
			}
			printAlike(p.Stdout, like, p.Now())
		}
		if err == nil && len(hits) == 0 {
			return &process.Problem{Code: process.ExitOpen, Err: fmt.Errorf("no runbook recognises this text"),
				Next: "see `handrail runbook list`, and choose by what you see"}
		}
		return err
	}
	return cmd
}

// pasted reads the text to match; of more than the matcher looks at, the end is
// kept by the matcher and the rest by nobody.
func pasted(p *process.Program, file string) (string, error) {
	in := p.Stdin
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return "", process.Usage("name a file that can be read", "reading the error text: %w", err)
		}
		defer f.Close()
		in = f
	} else if process.IsTerminal(p.Stdin) {
		fmt.Fprintln(p.Stderr, "Paste the error text, then Ctrl-D on a line of its own.")
	}
	const most = 64 << 20
	b, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return "", fmt.Errorf("reading the error text: %w", err)
	}
	return string(b), nil
}

func printHits(w io.Writer, hits []runbooks.Hit) {
	for i, h := range hits {
		fmt.Fprintf(w, "%d. %s: %s (score %d)\n", i+1, h.Runbook, process.Safe(h.Title), h.Score)
		process.Lines(w, "   matched: ", h.Line)
		if h.Say != "" {
			process.Lines(w, "   ", h.Say)
		}
		for _, name := range process.SortedKeys(h.Groups) {
			fmt.Fprintf(w, "   %s: %s\n", name, process.Safe(h.Groups[name]))
		}
	}
	if len(hits) > 0 {
		fmt.Fprintf(w, "\nOpen it with: handrail start %s\n", hits[0].Runbook)
	}
}
