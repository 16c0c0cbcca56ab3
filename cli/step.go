package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/steps"
	"handrail/steps/catalog"
)

// kind is the public form of a step kind.
type kind struct {
	Name    string          `json:"name"`
	Class   steps.Class     `json:"class"`
	Doc     string          `json:"doc"`
	Params  []process.Field `json:"params"`
	Facts   []process.Field `json:"facts"`
	Touches []string        `json:"touches"`
}

func describe(k steps.Kind) kind {
	return kind{k.Name, k.Class, k.Doc, process.Fields(k.Params), process.Fields(k.Facts), process.OrEmpty(k.Touches)}
}

func stepCommand(p *process.Program) *cobra.Command {
	return process.Group("step", "Step kinds: reference, and one read outside of an incident", stepList(p), stepRead(p), stepShow(p), stepScript(p))
}

func stepList(p *process.Program) *cobra.Command {
	return process.Listing[steps.Kind]{
		Head: []string{"KIND", "CLASS", "WHAT IT DOES"},
		Row: func(k steps.Kind) []string {
			first, _, _ := strings.Cut(k.Doc, ". ")
			return []string{k.Name, string(k.Class), strings.TrimSuffix(first, ".") + "."}
		},
		JSON: func(k steps.Kind) any { return describe(k) },
	}.Command(p, "List the kinds of steps a runbook may use", func() ([]steps.Kind, error) { return catalog.New().Kinds(), nil })
}

func stepShow(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "show KIND", Short: "Show parameters, facts and what a kind touches", Args: process.Exactly("a KIND")}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, err := lookupKind(args[0])
		if err != nil {
			return err
		}
		return o.Print(p, describe(k), func() error { showKind(p.Stdout, k); return nil })
	}
	return cmd
}

func lookupKind(name string) (steps.Kind, error) {
	cat := catalog.New()
	k, ok := cat.Lookup(name)
	if !ok {
		var names []string
		for _, k := range cat.Kinds() {
			names = append(names, k.Name)
		}
		return k, process.Unknown("step kind", name, names, "handrail step list")
	}
	return k, nil
}

// stepScript prints what an operator runs where handrail cannot look.
func stepScript(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "script KIND", Short: "Print the script whose output a kind reads, such as kube/node-report", Args: process.Exactly("a KIND")}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, err := lookupKind(args[0])
		if err != nil {
			return err
		}
		if k.Script == "" {
			return process.Usage("kube/node-report has one", "%s needs no script: it reads by itself", k.Name)
		}
		doc := struct {
			Name   string `json:"name"`
			Script string `json:"script"`
		}{k.Name, k.Script}
		return o.Print(p, doc, func() error { _, err := io.WriteString(p.Stdout, k.Script); return err })
	}
	return cmd
}

func showKind(w io.Writer, k steps.Kind) {
	fmt.Fprintf(w, "%s (%s)\n", k.Name, k.Class)
	process.Lines(w, "  ", k.Doc)
	process.ShowFields(w, "parameters", k.Params)
	process.ShowFields(w, "facts", k.Facts)
	if len(k.Touches) > 0 {
		fmt.Fprintln(w, "\ntouches")
		for _, t := range k.Touches {
			process.Lines(w, "  ", t)
		}
	}
}
