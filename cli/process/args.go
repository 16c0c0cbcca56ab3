package process

import (
	"strings"

	"github.com/spf13/cobra"
)

// Group is a command that only holds others.
func Group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownCommand(cmd, args[0])
			}
			names := []string{}
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return Usage("see `"+cmd.CommandPath()+" --help`",
				"%s needs one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
	cmd.AddCommand(subs...)
	return cmd
}

func UnknownCommand(cmd *cobra.Command, name string) error {
	next := "see `" + cmd.CommandPath() + " --help`"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		next = "did you mean `" + cmd.CommandPath() + " " + near[0] + "`?"
	}
	return Usage(next, "unknown command %q for %q", name, cmd.CommandPath())
}

// Exactly is cobra.ExactArgs with an error that names what is missing.
func Exactly(names ...string) cobra.PositionalArgs {
	return Between(len(names), names...)
}

// Between wants at least least of the named arguments and at most all of them.
func Between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		next := "usage: " + cmd.UseLine()
		switch {
		case len(args) < least:
			return Usage(next, "%s needs %s", cmd.CommandPath(), names[len(args)])
		case len(args) > len(names):
			return Usage(next, "%s has no use for %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}
