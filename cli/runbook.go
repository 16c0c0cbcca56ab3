package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence/redact"
	"handrail/runbooks"
	"handrail/steps/catalog"
	"handrail/triage"
)

func runbookCommand(p *process.Program) *cobra.Command {
	return process.Group("runbook", "The runbooks: one for each kind of failure", runbookList(p), runbookShow(p), runbookLint(p))
}

// book is the public form of a runbook.
type book struct {
	ID        string          `json:"id"`
	Title     string          `json:"title"`
	Domain    string          `json:"domain"`
	Severity  triage.Severity `json:"severity"`
	Doc       string          `json:"doc,omitempty"`
	Params    []field         `json:"params,omitempty"`
	Recognise []string        `json:"recognise,omitempty"`
	Steps     []bookStep      `json:"steps,omitempty"`
	Digest    string          `json:"digest"`
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

func describeBook(rb *runbooks.Runbook) book {
	b := book{ID: rb.ID, Title: rb.Title, Domain: rb.Domain, Severity: rb.Severity, Doc: rb.Doc,
		Params: fields(rb.Params), Digest: rb.Digest}
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

func runbookList(p *process.Program) *cobra.Command {
	return process.Listing[*runbooks.Runbook]{
		Head: []string{"RUNBOOK", "SEVERITY", "DOMAIN", "TITLE"},
		Row:  func(rb *runbooks.Runbook) []string { return []string{rb.ID, string(rb.Severity), rb.Domain, rb.Title} },
		JSON: func(rb *runbooks.Runbook) any {
			b := describeBook(rb)
			b.Params, b.Recognise, b.Steps = nil, nil, nil
			return b
		},
	}.Command(p, "List the runbooks", func() ([]*runbooks.Runbook, error) { return settings.Library(p) })
}

func runbookShow(p *process.Program) *cobra.Command {
	var source bool
	cmd := &cobra.Command{Use: "show RUNBOOK", Short: "Show the parameters and steps of a runbook", Args: process.Exactly("a RUNBOOK")}
	cmd.Flags().BoolVar(&source, "source", false, "print the YAML document itself")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		rb, err := settings.Runbook(p, args[0])
		switch {
		case err != nil:
			return err
		case source:
			_, err := p.Stdout.Write(rb.Source)
			return err
		}
		return o.Print(p, describeBook(rb), func() error { return showBook(p.Stdout, rb) })
	}
	return cmd
}

func showBook(w io.Writer, rb *runbooks.Runbook) error {
	fmt.Fprintf(w, "%s (%s, %s): %s\n", rb.ID, rb.Severity, rb.Domain, process.Safe(rb.Title))
	if rb.Doc != "" {
		process.Lines(w, "  ", rb.Doc)
	}
	showFields(w, "parameters, given as -p name=value", rb.Params)
	fmt.Fprintln(w)
	var rows [][]string
	for _, s := range describeBook(rb).Steps {
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

// lintProblem is the public form of one thing that is wrong.
type lintProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func runbookLint(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "lint FILE...", Short: "Check runbooks; each problem is FILE:LINE:COLUMN",
		Long: `lint reads runbooks as strictly as handrail does before it uses them: unknown and
repeated keys, tags, aliases, empty conditions, expressions that name facts which no
step declares, gates without what the laws of the loop need.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return process.Usage("usage: "+cmd.UseLine(), "%s needs a FILE", cmd.CommandPath())
			}
			return nil
		},
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		team, err := settings.TeamRules(p)
		if err != nil {
			return err
		}
		found, err := lint(files, team)
		if err != nil {
			return err
		}
		if *o == process.AsJSON {
			err = process.PrintJSON(p, found)
		} else {
			for _, f := range found {
				process.Lines(p.Stdout, "", runbooks.Problem{File: f.File, Line: f.Line, Col: f.Column, Message: f.Message, Hint: f.Hint}.Error())
			}
		}
		if err == nil && len(found) > 0 {
			return process.Usage("", "%s in %s", process.Counted(len(found), "problem"), process.Counted(len(files), "file"))
		}
		return err
	}
	return cmd
}

func lint(files []string, team []redact.TeamRule) ([]lintProblem, error) {
	found := []lintProblem{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, process.Usage("name a file that can be read", "%w", err)
		}
		_, err = runbooks.Lint(file, src, catalog.New())
		var bad runbooks.Problems
		if err != nil && !errors.As(err, &bad) {
			return nil, fmt.Errorf("%q: %w", file, err)
		}
		for _, b := range bad {
			found = append(found, lintProblem{b.File, b.Line, b.Col, b.Message, b.Hint})
		}
		line, err := redact.HiddenLine("application/yaml", src, team)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", file, err)
		}
		if line > 0 {
			found = append(found, lintProblem{file, line, 1, "this line looks like a secret: a bundle would redact it, and the incident could not be read back", "give it another name, or take the secret out"})
		}
	}
	return found, nil
}
