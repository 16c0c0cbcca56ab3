package books

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/steps/catalog"
)

func schemaCommand(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema [RUNBOOK]", Short: "Print the JSON Schema by which editors complete a runbook",
		Long: `schema prints a JSON Schema of runbooks, made from the catalogue of steps: an editor
with it completes keys, kinds of steps, their parameters and values. With a RUNBOOK it
also completes the facts, answers and parameters that its expressions may name. An
editor finds the schema by the first line of a runbook:

    # yaml-language-server: $schema=runbook.schema.json`,
		Args: process.Between(0, "RUNBOOK"),
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var of *runbooks.Runbook
		if len(args) == 1 {
			b, err := settings.Look(p, args[0])
			if err != nil {
				return err
			}
			of = b.Runbook
		}
		text, err := schemaText(of)
		if err != nil {
			return err
		}
		_, err = p.Stdout.Write(text)
		return err
	}
	return cmd
}

func schemaText(of *runbooks.Runbook) ([]byte, error) {
	text, err := json.MarshalIndent(runbooks.Schema(catalog.New(), of), "", " ")
	return append(text, '\n'), err
}

func docsCommand(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "docs RUNBOOK", Short: "Print a runbook as a page of Markdown", Args: process.Exactly("a RUNBOOK")}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		b, err := settings.Look(p, args[0])
		if err != nil {
			return err
		}
		return printText(p, b.Page(catalog.New()))
	}
	return cmd
}

func graphCommand(p *process.Program) *cobra.Command {
	var dot bool
	cmd := &cobra.Command{
		Use: "graph RUNBOOK", Short: "Draw what stands on what in a runbook, as mermaid or dot",
		Long: `graph draws the steps of a runbook by phase, with an arrow from each step to those
whose conditions, parameters or conclusions name it, and the runbooks that may come next.`,
		Args: process.Exactly("a RUNBOOK"),
	}
	cmd.Flags().BoolVar(&dot, "dot", false, "draw in the language of Graphviz instead of mermaid")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		b, err := settings.Look(p, args[0])
		if err != nil {
			return err
		}
		form := "mermaid"
		if dot {
			form = "dot"
		}
		return printText(p, b.Graph(form))
	}
	return cmd
}

// printText prints a text of several lines, which a stranger may have written.
func printText(p *process.Program, text string) error {
	process.Lines(p.Stdout, "", strings.TrimSuffix(text, "\n"))
	return nil
}
