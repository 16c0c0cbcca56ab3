package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

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

func matchCommand(p *program) *cobra.Command {
	var file string
	var plain bool
	cmd := &cobra.Command{
		Use: "match", Short: "Rank the runbooks for an error text on stdin or in a file",
		Long: `match reads an error text, as it was pasted, and ranks the runbooks that recognise
it. On a terminal it opens the screens with the text, also where that comes through a
pipe: terraform apply 2>&1 | handrail match. Elsewhere, and with --plain, it prints
them, and ends with 3 when there is none.`,
		Args: exactly(),
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "read this `file` instead of stdin")
	cmd.Flags().BoolVar(&plain, "plain", false, "print the runbooks instead of drawing screens")
	o := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		keys, screens := (*os.File)(nil), false
		if !plain && *o != asJSON {
			keys, screens = p.onTerminal()
		}
		if screens && file == "" && keys == nil {
			return p.matchOnScreen(cmd.Context(), "", nil)
		}
		text, err := p.pasted(file)
		if screens && err == nil {
			return p.matchOnScreen(cmd.Context(), text, keys)
		}
		if err != nil {
			return err
		}
		lib, err := p.library()
		if err != nil {
			return err
		}
		hits := runbooks.Match(lib, text)
		if *o == asJSON {
			out := []hit{}
			for _, h := range hits {
				out = append(out, hit(h))
			}
			err = printJSON(p.stdout, out)
		} else {
			printHits(p.stdout, hits)
			like, err := p.alike(text)
			if err != nil { // the runbooks are what was asked for
				fmt.Fprintf(p.stderr, "handrail: the incidents of this machine were not searched: %s\n", safe(err.Error()))
			}
			printAlike(p.stdout, like, p.now())
		}
		if err == nil && len(hits) == 0 {
			return &problem{code: ExitOpen, err: fmt.Errorf("no runbook recognises this text"),
				next: "see `handrail runbook list`, and choose by what you see"}
		}
		return err
	}
	return cmd
}

// pasted reads the text to match; of more than the matcher looks at, the end is
// kept by the matcher and the rest by nobody.
func (p *program) pasted(file string) (string, error) {
	in := p.stdin
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return "", usage("name a file that can be read", "reading the error text: %w", err)
		}
		defer f.Close()
		in = f
	} else if isTerminal(p.stdin) {
		fmt.Fprintln(p.stderr, "Paste the error text, then Ctrl-D on a line of its own.")
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
		fmt.Fprintf(w, "%d. %s: %s (score %d)\n", i+1, h.Runbook, safe(h.Title), h.Score)
		lines(w, "   matched: ", h.Line)
		if h.Say != "" {
			lines(w, "   ", h.Say)
		}
		for _, name := range sortedKeys(h.Groups) {
			fmt.Fprintf(w, "   %s: %s\n", name, safe(h.Groups[name]))
		}
	}
	if len(hits) > 0 {
		fmt.Fprintf(w, "\nOpen it with: handrail start %s\n", hits[0].Runbook)
	}
}
