package process

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"handrail/steps/strict"
)

// Listing is how a list is printed: each item as a row of a table, or among the
// items of a JSON document, which are never null.
type Listing[T any] struct {
	Head []string
	Row  func(T) []string
	JSON func(T) any
	None string // what a person is told in place of an empty table, "" for its head alone
}

// Print prints the items.
func (l Listing[T]) Print(p *Program, o Output, items []T) error {
	if o == AsJSON {
		out := []any{}
		for _, item := range items {
			out = append(out, l.JSON(item))
		}
		return PrintJSON(p, out)
	}
	if len(items) == 0 && l.None != "" {
		fmt.Fprintln(p.Stderr, l.None)
		return nil
	}
	var rows [][]string
	for _, item := range items {
		rows = append(rows, l.Row(item))
	}
	return Table(p.Stdout, l.Head, rows)
}

// Command is `list`.
func (l Listing[T]) Command(p *Program, short string, load func() ([]T, error)) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: short, Args: Exactly()}
	o := OutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		items, err := load()
		if err != nil {
			return err
		}
		return l.Print(p, *o, items)
	}
	return cmd
}

// Print prints v as JSON, or as text has it.
func (o Output) Print(p *Program, v any, text func() error) error {
	if o == AsJSON {
		return PrintJSON(p, v)
	}
	return text()
}

// Unknown says that there is no thing of that name: the next move is the name that
// was most likely meant, or the command that lists them all.
func Unknown(what, name string, known []string, list string) error {
	next := "see `" + list + "`"
	near := strict.Nearest(name, known)
	for _, k := range known {
		if near == "" && len(name) > 2 && (strings.Contains(k, name) || strings.Contains(name, k)) {
			near = k
		}
	}
	if near != "" {
		next = "did you mean " + near + "?"
	}
	return Usage(next, "there is no %s %q", what, name)
}
