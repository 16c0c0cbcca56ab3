package books

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
)

// lintProblem is the public form of one thing that is wrong.
type lintProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func lintCommand(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "lint FILE...", Short: "Check runbooks; each problem is FILE:LINE:COLUMN",
		Long: `lint reads runbooks as strictly as handrail does before it uses them: unknown and
repeated keys, tags, aliases, empty conditions, expressions that name facts which no
step declares, gates without what the laws of the loop need. Each problem ends with what
to write instead. A runbook that does not come with handrail passes it before it is used.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return process.Usage("usage: "+cmd.UseLine(), "%s needs a FILE", cmd.CommandPath())
			}
			return nil
		},
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		found, err := lint(p, files)
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

func lint(p *process.Program, files []string) ([]lintProblem, error) {
	found := []lintProblem{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, process.Usage("name a file that can be read", "%w", err)
		}
		_, err = settings.LintBook(p, file, src)
		var bad runbooks.Problems
		if err != nil && !errors.As(err, &bad) {
			return nil, fmt.Errorf("%q: %w", file, err)
		}
		for _, b := range bad {
			found = append(found, lintProblem{b.File, b.Line, b.Col, b.Message, b.Hint})
		}
	}
	return found, nil
}
