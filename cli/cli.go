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

	"handrail/cli/books"
	"handrail/cli/bundle"
	"handrail/cli/debts"
	"handrail/cli/itself"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/steps/gitops/render"
	"handrail/steps/policy/replay"
	"handrail/tui"
)

// confined are the processes of handrail that work on what others wrote (steps/confined).
var confined = map[string]func(io.Reader, io.Writer) int{render.Word: render.Child, replay.Word: replay.Child}

// Main runs one command line, the name of the program first, and returns the exit code of
// the process. It reads nothing of the process but what it is given, apart from signals and
// the working directory.
func Main(argv []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) (code int) {
	process.NoCore()
	if len(argv) == 2 && confined[argv[1]] != nil { // with nothing of the operator's
		return confined[argv[1]](stdin, stdout)
	}
	quiet()
	p := &process.Program{Stdin: stdin, Stdout: stdout, Environ: environ, Now: time.Now, Interrupts: &process.Interrupts{}}
	if len(argv) == 0 { // as execve allows
		argv = []string{""}
	}
	name := process.Called(argv[0])
	stderr = settings.Scrub(p, process.Calling(process.Harmless{W: stderr}, name))
	p.Stderr = stderr
	defer func() {
		if v := recover(); v != nil {
			process.Crashed(stderr, v)
			code = process.ExitFault
		}
	}()
	ctx, stop := process.WithSignals(context.Background(), p.Interrupts)
	defer stop()
	root := newRoot(p)
	root.SetArgs(argv[1:])
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	root.SetIn(stdin)
	root.SetOut(process.Calling(process.Harmless{W: stdout}, name)) // what cobra says; data is written to p.stdout
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		process.Tell(stderr, err)
		return process.ExitCode(err)
	}
	return process.ExitDone
}

// quiet keeps client-go from writing over the screen: its warnings are part of
// the answers that probes record.
func quiet() {
	klog.SetLogger(logr.Discard())
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
}

func newRoot(p *process.Program) *cobra.Command {
	var o *process.Output
	root := &cobra.Command{
		Use:   "handrail",
		Short: "Walk an incident from evidence to the smallest safe change",
		Long: `handrail walks the people on an incident bridge through one loop: evidence
first, then "did mutation start?", then the smallest safe transition. Every probe
reads and cannot write; everything seen, said and done goes into an evidence
bundle; every dangerous step waits behind a gate.

Without a command it opens the home screen. The cluster, the user and the namespace
are named as for kubectl; see ` + "`handrail help cluster-flags`" + ` for all its flags.

` + process.ExitCodes,
		Args:              cobra.ArbitraryArgs, // unknown commands are ours to explain
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return process.UnknownCommand(cmd, args[0])
			}
			return home(cmd.Context(), p, *o)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return process.Usage("see `"+cmd.CommandPath()+" --help`", "%w", err)
	})
	o = process.OutputFlag(root)
	f := root.PersistentFlags()
	p.ClusterFlags(root)
	f.StringVar(&p.State, "state-dir", "", "`directory` of incidents, keys and trust (default $XDG_STATE_HOME/handrail)")
	f.StringVar(&p.Tofu, "program", "", "tofu, terraform or the `path` of one (default: the one that the directory was used with, else tofu)")
	f.StringVar(&p.Tofu, "tofu", "", "another name of --program")
	_ = f.MarkHidden("tofu") // the flag is there
	f.BoolVar(&p.ReadOnly, "readonly", false, "arm no gate, whatever the laws say")
	f.StringVar(&p.Theme, "theme", "", "draw with this theme: "+strings.Join(tui.Themes(), ", "))
	root.AddCommand(
		matchCommand(p), startCommand(p), runCommand(p), resumeCommand(p), followCommand(p), replayCommand(p),
		books.Command(p), stepCommand(p), bundle.BundleCommand(p), drillCommand(p), labCommand(p),
		approveCommand(p), debts.Command(p), readinessCommand(p), trustCommand(p), doctorCommand(p), itself.Config(p), itself.Version(p), itself.Man(p), actCommand(p), bucketCommand(), realmCommand(), awsCommand(), storeCommand(), exitCodesTopic(),
	)
	complete(p, root)
	return root
}

func exitCodesTopic() *cobra.Command {
	// A command that cannot run is a help topic to cobra.
	return &cobra.Command{Use: "exit-codes", Short: "What each exit code means", Long: process.ExitCodes}
}
