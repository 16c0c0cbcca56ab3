package books

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
)

func trustCommand(p *process.Program) *cobra.Command {
	var look, forget bool
	cmd := &cobra.Command{
		Use:   "trust RUNBOOK",
		Short: "Allow a runbook of a file, of the repository or of the team to be begun with",
		Long: `A runbook that does not come with handrail is begun with only after a person trusted
it: what it reads, which programs it runs and what its gates can change is shown
first. What is trusted is the digest of its text. A change ends the trust, and the next
look says what is new. No runbook, trusted or not, can loosen a law of the loop or a
floor of a gate.

RUNBOOK is a file or an id. The list is kept in trust/ of the state directory; a run
without a terminal needs the trust beforehand.`,
		Args: process.Exactly("a RUNBOOK"),
	}
	cmd.Flags().BoolVar(&look, "show", false, "show what would be trusted, and trust nothing")
	cmd.Flags().BoolVar(&forget, "forget", false, "end the trust in it")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if forget {
			return forgetBook(p, args[0])
		}
		b, err := settings.Look(p, args[0])
		if err != nil {
			return err
		}
		if b.Origin == settings.OfHandrail {
			return process.Usage("start it: handrail start "+b.ID, "%s comes with handrail, and needs no trust", b.ID)
		}
		tell(p, b)
		if look {
			fmt.Fprintln(p.Stderr, "Trusted nothing: it was a look.")
			return nil
		}
		if err := settings.TrustBook(p, b); err != nil {
			return err
		}
		fmt.Fprintf(p.Stderr, "Trusted %s as it is now, digest %.12s. A change of it ends the trust.\n", process.Safe(b.Path), b.Digest)
		return nil
	}
	return cmd
}

func forgetBook(p *process.Program, name string) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if b, err := settings.Look(p, name); err == nil && b.Path != "" {
		path = b.Path
	}
	known, err := settings.Forget(p, path)
	if err != nil {
		return err
	}
	if !known {
		return process.Usage("see `handrail runbook list`", "%s is not trusted", path)
	}
	fmt.Fprintf(p.Stderr, "%s is not trusted any more.\n", process.Safe(path))
	return nil
}

// tell says what a runbook is and what it could do, before it is trusted.
func tell(p *process.Program, b settings.Book) {
	fmt.Fprintf(p.Stderr, "%s: %s\n%s of %s: %s\n", process.Safe(b.ID), process.Safe(b.Title), process.Safe(string(b.Severity)), b.Origin.Words(), process.Safe(b.Path))
	if over := Before(b); over != "" {
		fmt.Fprintf(p.Stderr, "It stands %s, with the same id.\n", over)
	}
	for _, part := range settings.ReachOf(p, b) {
		fmt.Fprintln(p.Stderr, part.Title)
		for _, line := range part.List {
			fmt.Fprintf(p.Stderr, "  %s%s\n", part.Mark(line), p.ScrubText(process.Safe(line)))
		}
	}
}

// Asked is a runbook to begin with. Where a person is at a terminal and it is not trusted
// yet, they are shown what it could do, and asked.
func Asked(p *process.Program, name string) (settings.Book, error) {
	b, err := settings.Look(p, name)
	if err != nil {
		return b, err
	}
	no := b.Check(p)
	if no == nil || !errors.As(no, new(*settings.UntrustedError)) || !process.IsTerminal(p.Stdin) {
		return b, no
	}
	tell(p, b)
	fmt.Fprintf(p.Stderr, "%s Type trust to trust it as it is now (empty: it is not opened): ", process.Safe(upper(errors.Unwrap(no).Error())+"."))
	if p.ReadLine() != "trust" {
		return b, no
	}
	return b, settings.TrustBook(p, b)
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Since says of a runbook that was trusted that it changed, "" where it never was.
func Since(changed bool) string {
	if changed {
		return "What is new is marked"
	}
	return ""
}
