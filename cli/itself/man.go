package itself

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"handrail/cli/process"
)

// Man is `handrail man`: for who packs handrail.
func Man(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages, one a command, into a directory", Hidden: true,
		Args: process.Exactly("a DIR"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := os.MkdirAll(args[0], 0o755); err != nil {
			return err
		}
		return eachCommand(cmd.Root(), func(c *cobra.Command) error {
			return os.WriteFile(filepath.Join(args[0], pageName(c)+".1"), []byte(page(c)), 0o644)
		})
	}
	return cmd
}

// eachCommand calls f for the commands and topics that help shows, the root first.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command) error) error {
	if err := f(cmd); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		if err := eachCommand(sub, f); err != nil {
			return err
		}
	}
	return nil
}

func pageName(c *cobra.Command) string {
	if c.HasParent() {
		return pageName(c.Parent()) + "-" + c.Name()
	}
	return "handrail"
}

// page is the manual page of a command in the macros of man(7). It has no date, so that the
// same source gives the same page.
func page(c *cobra.Command) string {
	var b strings.Builder
	name := pageName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"handrail\" \"handrail\"\n.SH NAME\n%s \\- %s\n", quoted(strings.ToUpper(name)), plain(name), plain(c.Short))
	if c.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", plain(c.UseLine()))
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	b.WriteString(prose(text))
	options(&b, "OPTIONS", c.NonInheritedFlags())
	options(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	var also []string
	if c.HasParent() {
		also = append(also, pageName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			also = append(also, pageName(sub))
		}
	}
	if c.HasParent() {
		also = append(also, "handrail-exit-codes")
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, other := range also {
		end := ","
		if i == len(also)-1 {
			end = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", plain(other), end)
	}
	return b.String()
}

// options lists the flags that help shows.
func options(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", plain(strings.TrimSpace(head+" "+value)), plain(usage))
	})
}

// prose keeps paragraphs, and lines that are set in as they are.
func prose(text string) string {
	var b strings.Builder
	set := false
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		in := strings.HasPrefix(line, "  ")
		switch {
		case in && !set:
			b.WriteString(".PP\n.nf\n")
		case !in && set && line != "":
			b.WriteString(".fi\n")
		}
		if in || line != "" {
			set = in
		}
		if line == "" {
			if !set {
				b.WriteString(".PP\n")
			}
			continue
		}
		b.WriteString(plain(line) + "\n")
	}
	if set {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// plain keeps roff from taking text for its own: backslashes, dashes, and what begins a line.
// What is not ASCII goes by its number, so that no encoding has to be told.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\n':
			b.WriteByte(' ')
		case r > 0x7e:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	s := b.String()
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, "") + `"` }
