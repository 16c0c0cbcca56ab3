// Package books is the runbook commands: what runbooks there are and where they come from,
// how one is written, checked, tested and drawn, and the trust that one needs which does
// not come with the program.
package books

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/triage"
)

// Command is the group of the runbook commands.
func Command(p *process.Program) *cobra.Command {
	return process.Group("runbook", "The runbooks: one for each kind of failure", list(p), show(p), newCommand(p), lintCommand(p), testCommand(p), schemaCommand(p), docsCommand(p), graphCommand(p), rbacCommand(p), trustCommand(p))
}

// book is the public form of a runbook.
type book struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Domain    string            `json:"domain"`
	Severity  triage.Severity   `json:"severity"`
	Doc       string            `json:"doc,omitempty"`
	Params    []process.Field   `json:"params,omitempty"`
	Recognise []string          `json:"recognise,omitempty"`
	Steps     []bookStep        `json:"steps,omitempty"`
	Digest    string            `json:"digest"`
	Origin    settings.Origin   `json:"origin"`
	File      string            `json:"file,omitempty"`
	Over      []settings.Origin `json:"over,omitempty"` // that have one of the same id
	Trusted   bool              `json:"trusted"`
}

type bookStep struct {
	ID       string          `json:"id"`
	Phase    triage.Phase    `json:"phase"`
	Kind     triage.StepKind `json:"kind"`
	Uses     string          `json:"uses,omitempty"`
	Title    string          `json:"title,omitempty"`
	Class    triage.Class    `json:"class,omitempty"`
	Required bool            `json:"required"`
	Heavy    bool            `json:"heavy"`
	Covers   []string        `json:"covers,omitempty"`
	Sources  []string        `json:"sources,omitempty"` // of a compare step
}

func describe(p *process.Program, of settings.Book) book {
	rb := of.Runbook
	b := book{ID: rb.ID, Title: rb.Title, Domain: rb.Domain, Severity: rb.Severity, Doc: rb.Doc,
		Params: process.Fields(rb.Params), Digest: rb.Digest, Origin: of.Origin, File: of.Path, Over: of.Over, Trusted: of.Check(p) == nil}
	for _, r := range rb.Recognise {
		b.Recognise = append(b.Recognise, r.Pattern)
	}
	for _, s := range rb.Steps {
		uses := s.Uses
		if uses == "" {
			uses = string(s.Topic)
		}
		b.Steps = append(b.Steps, bookStep{s.ID, s.Phase, s.Kind, uses, s.Title, s.Class, s.Required, s.Heavy, s.Covers, s.Sources()})
	}
	return b
}

func list(p *process.Program) *cobra.Command {
	return process.Listing[settings.Book]{
		Head: []string{"RUNBOOK", "SEVERITY", "DOMAIN", "FROM", "TITLE"},
		Row: func(b settings.Book) []string {
			return []string{b.ID, string(b.Severity), b.Domain, From(p, b), b.Title}
		},
		JSON: func(of settings.Book) any {
			b := describe(p, of)
			b.Params, b.Recognise, b.Steps = nil, nil, nil
			return b
		},
	}.Command(p, "List the runbooks, where they come from and whether they are trusted", func() ([]settings.Book, error) {
		s, err := settings.ShelfOf(p)
		Warn(p, s)
		return s.Books, err
	})
}

// From says where a runbook comes from, whether it is trusted and what it stands before.
func From(p *process.Program, b settings.Book) string {
	out := string(b.Origin)
	if b.Origin != settings.OfHandrail {
		var no *settings.UntrustedError
		switch err := b.Check(p); {
		case err == nil:
			out += ", trusted"
		case errors.As(err, &no) && no.Changed:
			out += ", changed since trusted"
		default:
			out += ", not trusted"
		}
	}
	if over := Before(b); over != "" {
		out += ", " + over
	}
	return out
}

// Before says which runbooks of the same id another one stands before, "" for none.
func Before(b settings.Book) string {
	if len(b.Over) == 0 {
		return ""
	}
	var out []string
	for _, o := range b.Over {
		out = append(out, string(o))
	}
	return "before that of " + strings.Join(out, " and ")
}

// Warn says which files of runbooks are not used, and why.
func Warn(p *process.Program, s settings.Shelf) {
	for _, b := range s.Bad {
		fmt.Fprintf(p.Stderr, "handrail: the runbook %s of %s is not used:\n", process.Safe(b.ID), b.Origin.Words())
		process.Lines(p.Stderr, "  ", b.Err.Error())
	}
}

func show(p *process.Program) *cobra.Command {
	var source bool
	cmd := &cobra.Command{Use: "show RUNBOOK", Short: "Show the parameters and steps of a runbook, by its id or as a file", Args: process.Exactly("a RUNBOOK")}
	cmd.Flags().BoolVar(&source, "source", false, "print the YAML document itself")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		b, err := settings.Look(p, args[0])
		switch {
		case err != nil:
			return err
		case source:
			_, err := p.Stdout.Write(b.Source)
			return err
		}
		return o.Print(p, describe(p, b), func() error { return showBook(p, p.Stdout, b) })
	}
	return cmd
}

func showBook(p *process.Program, w io.Writer, b settings.Book) error {
	rb := b.Runbook
	fmt.Fprintf(w, "%s (%s, %s): %s\n", rb.ID, rb.Severity, rb.Domain, process.Safe(rb.Title))
	if b.Origin != settings.OfHandrail {
		fmt.Fprintf(w, "  of %s: %s\n", From(p, b), process.Safe(b.Path))
	}
	if rb.Doc != "" {
		process.Lines(w, "  ", rb.Doc)
	}
	process.ShowFields(w, "parameters, given as -p name=value", rb.Params)
	fmt.Fprintln(w)
	var rows [][]string
	for _, s := range describe(p, b).Steps {
		note := string(s.Class)
		switch {
		case s.Heavy:
			note = "heavy"
		case s.Required:
			note = "required"
		}
		uses := s.Uses
		if len(s.Sources) > 0 {
			uses = strings.Join(s.Sources, " ")
		}
		rows = append(rows, []string{string(s.Phase), s.ID, string(s.Kind), uses, note, s.Title})
	}
	return process.Table(w, []string{"PHASE", "STEP", "KIND", "USES", "NOTE", "TITLE"}, rows)
}
