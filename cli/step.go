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
	Name    string      `json:"name"`
	Class   steps.Class `json:"class"`
	Doc     string      `json:"doc"`
	Params  []field     `json:"params"`
	Facts   []field     `json:"facts"`
	Touches []string    `json:"touches"`
}

// field is the public form of a parameter or a fact.
type field struct {
	Name     string     `json:"name"`
	Type     steps.Type `json:"type"`
	Doc      string     `json:"doc"`
	Values   []string   `json:"values,omitempty"`
	Default  string     `json:"default,omitempty"`
	Required bool       `json:"required,omitempty"`
	Pattern  string     `json:"pattern,omitempty"`
	Literal  bool       `json:"literal,omitempty"`
	Lines    bool       `json:"lines,omitempty"`
}

func describe(k steps.Kind) kind {
	return kind{k.Name, k.Class, k.Doc, fields(k.Params), fields(k.Facts), process.OrEmpty(k.Touches)}
}

func fields(from []steps.Field) []field {
	out := []field{}
	for _, f := range from {
		out = append(out, field(f))
	}
	return out
}

func stepCommand(p *process.Program) *cobra.Command {
	return process.Group("step", "Reference of step kinds", stepList(p), stepShow(p), stepScript(p))
}

func stepList(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the kinds of steps a runbook may use", Args: process.Exactly()}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if *o == process.AsJSON {
			out := []kind{}
			for _, k := range catalog.New().Kinds() {
				out = append(out, describe(k))
			}
			return process.PrintJSON(p.Stdout, out)
		}
		var rows [][]string
		for _, k := range catalog.New().Kinds() {
			first, _, _ := strings.Cut(k.Doc, ". ")
			rows = append(rows, []string{k.Name, string(k.Class), strings.TrimSuffix(first, ".") + "."})
		}
		return process.Table(p.Stdout, []string{"KIND", "CLASS", "WHAT IT DOES"}, rows)
	}
	return cmd
}

func stepShow(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "show KIND", Short: "Show parameters, facts and what a kind touches", Args: process.Exactly("a KIND")}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, ok := catalog.New().Lookup(args[0])
		if !ok {
			return process.Usage("see `handrail step list`", "there is no step kind %q", args[0])
		}
		if *o == process.AsJSON {
			return process.PrintJSON(p.Stdout, describe(k))
		}
		showKind(p.Stdout, k)
		return nil
	}
	return cmd
}

// stepScript prints what an operator runs where handrail cannot look.
func stepScript(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "script KIND", Short: "Print the script that makes what a kind reads, such as kube/node-report", Args: process.Exactly("a KIND")}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, ok := catalog.New().Lookup(args[0])
		if !ok {
			return process.Usage("see `handrail step list`", "there is no step kind %q", args[0])
		}
		if k.Script == "" {
			return process.Usage("kube/node-report has one", "%s needs no script: it reads by itself", k.Name)
		}
		_, err := io.WriteString(p.Stdout, k.Script)
		return err
	}
	return cmd
}

func showKind(w io.Writer, k steps.Kind) {
	fmt.Fprintf(w, "%s (%s)\n", k.Name, k.Class)
	process.Lines(w, "  ", k.Doc)
	showFields(w, "parameters", k.Params)
	showFields(w, "facts", k.Facts)
	if len(k.Touches) > 0 {
		fmt.Fprintln(w, "\ntouches")
		for _, t := range k.Touches {
			process.Lines(w, "  ", t)
		}
	}
}

func showFields(w io.Writer, title string, list []steps.Field) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, f := range list {
		notes := []string{string(f.Type)}
		if len(f.Values) > 0 {
			notes = append(notes, strings.Join(f.Values, "|"))
		}
		if f.Required {
			notes = append(notes, "required")
		}
		if f.Default != "" {
			notes = append(notes, "default "+f.Default)
		}
		fmt.Fprintf(w, "  %s (%s)\n", f.Name, process.Safe(strings.Join(notes, ", ")))
		process.Lines(w, "      ", f.Doc)
	}
}
