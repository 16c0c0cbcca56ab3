package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/drills"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
	"handrail/tui"
)

// completer offers what may stand in one place of a command line. It says nothing and
// asks no network: what cannot be read is not offered.
type completer func(p *process.Program) []cobra.Completion

// completing are the words by which the usage of a command names its arguments.
func completing() map[string]completer {
	return map[string]completer{
		"RUNBOOK": completeRunbooks, "RUNBOOK...": completeRunbooks, "ID": completeNothing, "OWNER/NAME": completeNothing, "NUMBER": completeNothing, "KIND": completeKinds, "DRILL": completeDrills,
		"BUNDLE": completeBundles, "A": completeBundles, "B": completeBundles, "INCIDENT": completeIncidents,
	}
}

// completeNothing is for what is new, or on another machine.
func completeNothing(*process.Program) []cobra.Completion { return nil }

// paths are the words for what the shell completes by itself.
var paths = []string{"DIR", "FILE", "FILE...", "SRC", "DEST"}

// complete gives every command the completion of the arguments that its usage names, and
// its flags that of their values.
func complete(p *process.Program, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		complete(p, sub)
	}
	if words := argumentsOf(cmd); cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			word := ""
			switch n := len(words); {
			case len(args) < n:
				word = words[len(args)]
			case n > 0 && strings.HasSuffix(words[n-1], "..."):
				word = words[n-1]
			}
			switch of := completing()[word]; {
			case isPath(word):
				return nil, cobra.ShellCompDirectiveDefault
			case of == nil:
				return nil, cobra.ShellCompDirectiveNoFileComp
			case slices.Contains([]string{"KIND", "DRILL", "ID"}, word):
				return beginning(of(p), begun), cobra.ShellCompDirectiveNoFileComp
			default: // a bundle or a runbook may be a path as well: files are offered where no id fits
				return beginning(of(p), begun), cobra.ShellCompDirectiveDefault
			}
		}
	}
	for name, of := range map[string]func(args []string) []cobra.Completion{
		"output":   func([]string) []cobra.Completion { return []cobra.Completion{"text", "json"} },
		"theme":    func([]string) []cobra.Completion { return tui.Themes() },
		"severity": func([]string) []cobra.Completion { return severities() },
		"artifact": func([]string) []cobra.Completion { return bundle.Artifacts() },
		"variant":  ofDrill((*drills.Drill).Variants),
		"backend":  ofDrill(func(d *drills.Drill) []string { return d.Backends("") }),
		"param":    func(args []string) []cobra.Completion { return parameters(p, args) },
	} {
		if cmd.LocalFlags().Lookup(name) == nil {
			continue
		}
		_ = cmd.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			directive := cobra.ShellCompDirectiveNoFileComp
			if name == "param" {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			return beginning(of(args), begun), directive
		}) // the flag is there
	}
}

// argumentsOf are the arguments that the usage of a command names, in their order.
func argumentsOf(cmd *cobra.Command) []string {
	var out []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if strings.HasPrefix(word, "-") {
			break // the rest belongs to a flag
		}
		out = append(out, strings.Trim(word, "[]"))
	}
	return out
}

func isPath(word string) bool { return slices.Contains(paths, word) }

// beginning keeps what begins as the operator began, and nothing that a terminal obeys.
func beginning(list []cobra.Completion, begun string) []cobra.Completion {
	return slices.DeleteFunc(list, func(c cobra.Completion) bool {
		value, _, _ := strings.Cut(c, "\t")
		return !strings.HasPrefix(value, begun) || process.Safe(value) != value
	})
}

func describing(value, about string) cobra.Completion {
	return cobra.CompletionWithDesc(value, process.Safe(about))
}

func completeRunbooks(p *process.Program) []cobra.Completion {
	list, err := settings.Library(p)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, rb := range list {
		out = append(out, describing(rb.ID, rb.Title))
	}
	return out
}

func completeKinds(*process.Program) []cobra.Completion {
	var out []cobra.Completion
	for _, k := range catalog.New().Kinds() {
		first, _, _ := strings.Cut(k.Doc, ". ")
		out = append(out, describing(k.Name, first))
	}
	return out
}

func completeDrills(*process.Program) []cobra.Completion {
	list, err := drills.List(catalog.New())
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, d := range list {
		out = append(out, describing(d.ID, d.Title))
	}
	return out
}

func completeBundles(p *process.Program) []cobra.Completion { return incidents(p, false) }

// completeIncidents offers those that can be resumed.
func completeIncidents(p *process.Program) []cobra.Completion { return incidents(p, true) }

func incidents(p *process.Program, open bool) []cobra.Completion {
	list, err := bundle.Rows(p)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, r := range list {
		state := r.Outcome
		if state == "" {
			state = "open"
		}
		if r.Err == "" && (!open || r.Outcome == "") {
			out = append(out, describing(r.ID, state+", "+string(r.Severity)+", "+r.Title))
		}
	}
	return out
}

func severities() []cobra.Completion {
	var out []cobra.Completion
	for _, l := range triage.SeverityLevels() {
		out = append(out, string(l.Level))
	}
	return out
}

// ofDrill completes what the drill that is named has.
func ofDrill(names func(*drills.Drill) []string) func(args []string) []cobra.Completion {
	return func(args []string) []cobra.Completion {
		if len(args) == 0 {
			return nil
		}
		d, err := drills.Lookup(args[0], catalog.New())
		if err != nil {
			return nil
		}
		return names(d)
	}
}

// parameters are those of the runbook that is named, each up to its value.
func parameters(p *process.Program, args []string) []cobra.Completion {
	if len(args) == 0 {
		return nil
	}
	var out []cobra.Completion
	params := []steps.Field(nil)
	if k, is := catalog.New().Lookup(args[0]); is {
		params = k.Params
	} else if b, err := settings.Look(p, args[0]); err == nil { // to complete, nothing is trusted
		params = b.Params
	}
	for _, f := range params {
		out = append(out, describing(f.Name+"=", f.Doc))
	}
	return out
}
