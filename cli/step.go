package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

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
	return kind{k.Name, k.Class, k.Doc, fields(k.Params), fields(k.Facts), orEmpty(k.Touches)}
}

func fields(from []steps.Field) []field {
	out := []field{}
	for _, f := range from {
		out = append(out, field(f))
	}
	return out
}

func stepCommand(p *program) *cobra.Command {
	return group("step", "Reference of step kinds", stepList(p), stepShow(p), stepScript(p))
}

func stepList(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the kinds of steps a runbook may use", Args: exactly()}
	o := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if *o == asJSON {
			out := []kind{}
			for _, k := range catalog.New().Kinds() {
				out = append(out, describe(k))
			}
			return printJSON(p.stdout, out)
		}
		var rows [][]string
		for _, k := range catalog.New().Kinds() {
			first, _, _ := strings.Cut(k.Doc, ". ")
			rows = append(rows, []string{k.Name, string(k.Class), strings.TrimSuffix(first, ".") + "."})
		}
		return table(p.stdout, []string{"KIND", "CLASS", "WHAT IT DOES"}, rows)
	}
	return cmd
}

func stepShow(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "show KIND", Short: "Show parameters, facts and what a kind touches", Args: exactly("a KIND")}
	o := outputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, ok := catalog.New().Lookup(args[0])
		if !ok {
			return usage("see `handrail step list`", "there is no step kind %q", args[0])
		}
		if *o == asJSON {
			return printJSON(p.stdout, describe(k))
		}
		showKind(p.stdout, k)
		return nil
	}
	return cmd
}

// stepScript prints what an operator runs where handrail cannot look.
func stepScript(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "script KIND", Short: "Print the script that makes what a kind reads, such as kube/node-report", Args: exactly("a KIND")}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, ok := catalog.New().Lookup(args[0])
		if !ok {
			return usage("see `handrail step list`", "there is no step kind %q", args[0])
		}
		if k.Script == "" {
			return usage("kube/node-report has one", "%s needs no script: it reads by itself", k.Name)
		}
		_, err := io.WriteString(p.stdout, k.Script)
		return err
	}
	return cmd
}

func showKind(w io.Writer, k steps.Kind) {
	fmt.Fprintf(w, "%s (%s)\n", k.Name, k.Class)
	lines(w, "  ", k.Doc)
	showFields(w, "parameters", k.Params)
	showFields(w, "facts", k.Facts)
	if len(k.Touches) > 0 {
		fmt.Fprintln(w, "\ntouches")
		for _, t := range k.Touches {
			lines(w, "  ", t)
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
		fmt.Fprintf(w, "  %s (%s)\n", f.Name, safe(strings.Join(notes, ", ")))
		lines(w, "      ", f.Doc)
	}
}
