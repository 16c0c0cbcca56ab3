// Package cli is the command line of handrail: it reads flags and environment,
// builds what a session needs, and turns what happened into an exit code.
//
// Data goes to stdout, talk to stderr. Every text that came from outside is made
// harmless before it is printed. There is no flag that says yes: a gate takes
// its phrase from a person or from an answers file.
package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"handrail/tui"
)

// Main runs one command line and returns the exit code of the process. It reads
// nothing of the process but what it is given, apart from signals and the
// working directory.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) (code int) {
	quiet()
	noCore()
	p := &program{stdin: stdin, stdout: stdout, environ: environ, now: time.Now, interrupts: &interrupts{}}
	stderr = p.scrub(harmless{stderr})
	p.stderr = stderr
	defer func() {
		if v := recover(); v != nil {
			crashed(stderr, v)
			code = ExitFault
		}
	}()
	ctx, stop := withSignals(context.Background(), p.interrupts)
	defer stop()
	root := newRoot(p)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(harmless{stdout}) // what cobra says; data is written to p.stdout
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		tell(stderr, err)
		return exitCode(err)
	}
	return ExitDone
}

// quiet keeps client-go from writing over the screen: its warnings are part of
// the answers that probes record.
func quiet() {
	klog.SetLogger(logr.Discard())
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
}

func newRoot(p *program) *cobra.Command {
	var o *output
	root := &cobra.Command{
		Use:   "handrail",
		Short: "Walk an incident from evidence to the smallest safe change",
		Long: `handrail walks the people on an incident bridge through one loop: evidence
first, then "did mutation start?", then the smallest safe transition. Every probe
reads and cannot write; everything seen, said and done goes into an evidence
bundle; every dangerous step waits behind a gate.

Without a command it opens the home screen. The cluster, the user and the namespace
are named as for kubectl; see ` + "`handrail help cluster-flags`" + ` for all its flags.

` + exitCodes,
		Args:              cobra.ArbitraryArgs, // unknown commands are ours to explain
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return home(cmd.Context(), p, *o)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("see `"+cmd.CommandPath()+" --help`", "%w", err)
	})
	o = outputFlag(root)
	f := root.PersistentFlags()
	p.clusterFlags(root)
	f.StringVar(&p.state, "state-dir", "", "`directory` of incidents, keys and trust (default $XDG_STATE_HOME/handrail)")
	f.StringVar(&p.tofu, "program", "", "tofu, terraform or the `path` of one (default: the one that the directory was used with, else tofu)")
	f.StringVar(&p.tofu, "tofu", "", "another name of --program")
	_ = f.MarkHidden("tofu") // the flag is there
	f.StringVar(&p.theme, "theme", "", "draw with this theme: "+strings.Join(tui.Themes(), ", "))
	root.AddCommand(
		matchCommand(p), startCommand(p), runCommand(p), resumeCommand(p), followCommand(p), replayCommand(p),
		runbookCommand(p), stepCommand(p), bundleCommand(p), drillCommand(p), labCommand(p),
		approveCommand(p), trustCommand(p), doctorCommand(p), versionCommand(p), actCommand(p), exitCodesTopic(),
	)
	return root
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			names := []string{}
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return usage("see `"+cmd.CommandPath()+" --help`",
				"%s needs one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
	cmd.AddCommand(subs...)
	return cmd
}

func unknownCommand(cmd *cobra.Command, name string) error {
	next := "see `" + cmd.CommandPath() + " --help`"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		next = "did you mean `" + cmd.CommandPath() + " " + near[0] + "`?"
	}
	return usage(next, "unknown command %q for %q", name, cmd.CommandPath())
}

// exactly is cobra.ExactArgs with an error that names what is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return between(len(names), names...)
}

// between wants at least least of the named arguments and at most all of them.
func between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		next := "usage: " + cmd.UseLine()
		switch {
		case len(args) < least:
			return usage(next, "%s needs %s", cmd.CommandPath(), names[len(args)])
		case len(args) > len(names):
			return usage(next, "%s has no use for %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

func exitCodesTopic() *cobra.Command {
	// A command that cannot run is a help topic to cobra.
	return &cobra.Command{Use: "exit-codes", Short: "What each exit code means", Long: exitCodes}
}
