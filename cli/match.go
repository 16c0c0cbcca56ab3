package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/books"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/tui/form"
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
	Params  map[string]string `json:"params,omitempty"` // what start takes of it
	Origin  settings.Origin   `json:"origin"`
}

func matchCommand(p *process.Program) *cobra.Command {
	var file string
	var plain bool
	cmd := &cobra.Command{
		Use: "match [FILE]", Short: "Rank the runbooks for an error text on stdin or in a file",
		Long: `match reads an error text, as it was pasted, and ranks the runbooks that claim it:
those in which enough speaks for it, and little against. What is told in words is
held to the symptoms of the runbooks. The notification of an Alertmanager, as a webhook
gets it or amtool lists it, is read for what its alerts say. On a terminal it opens the screens with the text, also where that comes through a
pipe: terraform plan 2>&1 | handrail match. Elsewhere, and with --plain, it prints
them; where none claims the text it names the two nearest, and ends with 3.`,
		Args: process.Between(0, "FILE"),
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "read this `file` instead of stdin")
	cmd.Flags().BoolVar(&plain, "plain", false, "print the runbooks instead of drawing screens")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			if file != "" {
				return process.Usage("name it once: handrail match FILE", "match reads one text, and got the files %q and %q", file, args[0])
			}
			file = args[0]
		}
		keys, screens := (*os.File)(nil), false
		if !plain && *o != process.AsJSON {
			keys, screens = onTerminal(p)
		}
		if screens && file == "" && keys == nil {
			return matchOnScreen(cmd.Context(), p, "", "", nil)
		}
		text, err := pasted(p, file)
		from := cmp.Or(file, pasteOf(text))
		if said, ok := runbooks.Alerts(text); ok && err == nil {
			text, file, from = said, "", "" // a notification is the log of nothing
		}
		if screens && err == nil {
			return matchOnScreen(cmd.Context(), p, text, from, keys)
		}
		if err != nil {
			return err
		}
		shelf, err := settings.ShelfOf(p)
		if err != nil {
			return err
		}
		books.Warn(p, shelf)
		lib := shelf.Runbooks()
		hits := runbooks.Match(lib, text)
		if *o == process.AsJSON {
			out := []hit{}
			for _, h := range hits {
				out = append(out, hit{Runbook: h.Runbook, Title: h.Title, Score: h.Score, Line: h.Line, Pattern: h.Pattern, Say: h.Say, Groups: h.Groups,
					Params: spoken(lib, h, text, file), Origin: shelf.Of(h.Runbook).Origin})
			}
			err = process.PrintJSON(p, out)
		} else {
			printHits(p, shelf, hits)
			if len(hits) > 0 {
				fmt.Fprintf(p.Stdout, "\nOpen it with: %s\n", startLine(shelf.Name(shelf.Of(hits[0].Runbook)), spoken(lib, hits[0], text, file)))
			}
			if len(hits) == 0 {
				printNearest(p.Stdout, runbooks.Nearest(lib, text, nearest))
			}
			like, err := alike(p, text)
			if err != nil { // the runbooks are what was asked for
				fmt.Fprintf(p.Stderr, "handrail: the incidents of this machine were not searched: %s\n", process.Safe(err.Error()))
			}
			printAlike(p.Stdout, like, p.Now())
		}
		if err == nil && len(hits) == 0 {
			return &process.Problem{Code: process.ExitOpen, Err: fmt.Errorf("no runbook claims this text"),
				Next: "paste more of the text, or see `handrail runbook list` and choose by what you see"}
		}
		return err
	}
	return cmd
}

// pasted reads the text to match. Of one that is too long the beginning and the end are kept,
// with a line between them that says so.
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
	text, err := bothEnds(in, 16<<20, 48<<20)
	if err != nil {
		return "", fmt.Errorf("reading the error text: %w", err)
	}
	return text, nil
}

// bothEnds reads all of in, and keeps so many bytes of its beginning and of its end.
func bothEnds(in io.Reader, first, last int) (string, error) {
	head, err := io.ReadAll(io.LimitReader(in, int64(first)))
	if err != nil {
		return "", err
	}
	var tail []byte
	cut, buf := 0, make([]byte, 1<<20)
	for {
		n, err := in.Read(buf)
		if tail = append(tail, buf[:n]...); len(tail) > 2*last {
			cut += len(tail) - last
			tail = append([]byte(nil), tail[len(tail)-last:]...)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if over := len(tail) - last; over > 0 {
		cut, tail = cut+over, tail[over:]
	}
	return form.Joined(string(head), string(tail), cut), nil
}

// nearest is how many runbooks are named for a text that none claims.
const nearest = 2

// printNearest names what a text comes near to, and offers none of it.
func printNearest(w io.Writer, near []runbooks.Hit) {
	fmt.Fprintln(w, "No runbook claims this text.")
	for i, h := range near {
		if i == 0 {
			fmt.Fprintln(w, "Nearest:")
		}
		fmt.Fprintf(w, "   %s: %s (score %d of %d)\n", h.Runbook, process.Safe(h.Title), h.Score, runbooks.Floor)
		process.Lines(w, "      matched: ", h.Line)
	}
}

func printHits(p *process.Program, shelf settings.Shelf, hits []runbooks.Hit) {
	w := p.Stdout
	for i, h := range hits {
		fmt.Fprintf(w, "%d. %s: %s (score %d)\n", i+1, h.Runbook, process.Safe(h.Title), h.Score)
		if b := shelf.Of(h.Runbook); b.Origin != settings.OfHandrail {
			fmt.Fprintf(w, "   of %s: %s\n", books.From(p, b), process.Safe(b.Path))
		}
		process.Lines(w, "   matched: ", h.Line)
		if h.Say != "" {
			process.Lines(w, "   ", h.Say)
		}
		for _, name := range process.SortedKeys(h.Groups) {
			fmt.Fprintf(w, "   %s: %s\n", name, process.Safe(h.Groups[name]))
		}
	}
}

// startLine is the command that opens a runbook with what was found.
func startLine(runbook string, found map[string]string) string {
	line := "handrail start " + runbook
	for _, name := range process.SortedKeys(found) {
		arg := name + "=" + process.Safe(found[name])
		if strings.ContainsFunc(arg, func(r rune) bool { return !plainInShell(r) }) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		line += " -p " + arg
	}
	return line
}

// plainInShell says that a shell takes a character as it is.
func plainInShell(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("=./_-:@,+%", r)
}
