package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/drills/lab"
)

func labCommand(p *process.Program) *cobra.Command {
	cmd := process.Group("lab", "The practice cluster: a real API server on this machine's loopback",
		labUp(p), labBuild(p), labStatus(p), labEnv(p), labDown(p))
	labSource(p, cmd)
	return cmd
}

// labSource gives a command that may build the lab the flag that says from what.
func labSource(p *process.Program, cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&p.LabSource, "lab-source", "", "`directory` of the clone that the lab is built from (default $"+lab.SourceVariable+", else what is around or beside handrail)")
}

func labUp(p *process.Program) *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Build what is missing, start the lab and wait until it is ready", Args: process.Exactly(),
		Long: `up says what has to be built and how long that takes, builds it, starts the lab and waits
until it is ready. A drill starts the lab by itself, and builds no more than it needs;
'handrail drill list' shows which drills need no cluster.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			say, err := needs(p, labParts)
			if err != nil {
				return labError(err)
			}
			if say != "" {
				fmt.Fprintln(p.Stderr, say+goesOn)
			}
			l, err := startLab(cmd.Context(), p)
			if err != nil {
				return err
			}
			defer l.Close()
			fmt.Fprintf(p.Stderr, "The lab is ready at %s. `handrail lab env` prints what a shell needs, `handrail lab down` ends it.\n", l.URL())
			return nil
		},
	}
}

func labBuild(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "build", Short: "Build the programs of the lab and start nothing", Args: process.Exactly(), Hidden: true}
	services := cmd.Flags().Bool("services", false, "build as well the servers and programs that tests start")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		show := newLabProgress(p)
		defer show.end()
		o := lab.Options{Source: p.LabSource, Progress: show.report}
		_, err := lab.Build(cmd.Context(), o)
		if err == nil && *services {
			err = errors.Join(lab.BuildServices(cmd.Context(), o), lab.BuildTerraforms(cmd.Context(), o))
		}
		return labError(err)
	}
	return cmd
}

func labStatus(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "Show whether the lab runs and what it uses", Args: process.Exactly()}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), 10*time.Second)
		defer cancel()
		st, err := lab.Inspect(ctx, lab.Options{Source: p.LabSource})
		if err != nil {
			return err
		}
		return o.Print(p, st, func() error {
			if err := showLab(p.Stdout, st); err != nil || st.Running {
				return err
			}
			say, err := needs(p, labParts)
			switch {
			case err != nil:
				say = err.Error()
			case say == "":
				say = "Its programs are built."
			}
			_, err = fmt.Fprintln(p.Stdout, process.Safe(say))
			return err
		})
	}
	return cmd
}

func showLab(w io.Writer, st lab.Status) error {
	if !st.Running {
		fmt.Fprintln(w, "The lab is not running.")
		if st.Why != "" {
			process.Lines(w, "  ", st.Why)
		}
		return nil
	}
	stays := "until its last lease ends"
	if st.Stays {
		stays = "until `handrail lab down`"
	}
	fmt.Fprintf(w, "The lab runs at %s, Kubernetes %s, up %s, %d MB; it stays %s.\n",
		process.Safe(st.URL), process.Safe(st.Versions.Kubernetes), st.Uptime.Round(time.Second), st.Memory>>20, stays)
	var rows [][]string
	for _, pr := range st.Processes {
		rows = append(rows, []string{pr.Name, fmt.Sprint(pr.PID), fmt.Sprintf("%d MB", pr.Memory>>20)})
	}
	return process.Table(w, []string{"PROCESS", "PID", "MEMORY"}, rows)
}

func labEnv(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "env", Short: "Print what a shell needs to use the lab: eval \"$(handrail lab env)\"", Args: process.Exactly()}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := lab.Open(cmd.Context(), lab.Options{Source: p.LabSource})
		if err != nil {
			return labError(err)
		}
		list := []variable{}
		for _, line := range l.Env() {
			name, value, _ := strings.Cut(line, "=")
			list = append(list, variable{name, value})
		}
		return o.Print(p, list, func() error { _, err := io.WriteString(p.Stdout, l.Script()); return err })
	}
	return cmd
}

// variable is the public form of a variable of the environment.
type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func labDown(p *process.Program) *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Stop the lab and remove its data; its programs stay built", Args: process.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			show := newLabProgress(p)
			defer show.end()
			return lab.Down(cmd.Context(), lab.Options{Progress: show.report})
		},
	}
}

// startLab starts the lab of this user, with progress on stderr.
func startLab(ctx context.Context, p *process.Program) (*lab.Lab, error) {
	show := newLabProgress(p)
	if p.Drawing {
		show.w = io.Discard
	}
	defer show.end()
	l, err := lab.Up(ctx, lab.Options{Source: p.LabSource, Progress: show.report})
	return l, labError(err)
}

func labError(err error) error {
	switch {
	case errors.Is(err, lab.ErrNoSource):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "set " + lab.SourceVariable + " to a clone of handrail, or put " + lab.SourceArchive + " of the release beside handrail"}
	case errors.Is(err, lab.ErrNotRunning):
		return &process.Problem{Code: process.ExitUsage, Err: errors.New("the lab is not running"), Next: "start it with `handrail lab up`"}
	}
	return err
}

// labParts are what the lab has whichever drill is walked in it.
var labParts = []string{"cluster", "tofu"}

// labProgress shows what the lab does: one line that is rewritten on a terminal,
// a line for each stage and each quarter elsewhere.
type labProgress struct {
	w      io.Writer
	redraw bool
	open   bool
	last   string // stage and quarter of the newest plain line
}

func newLabProgress(p *process.Program) *labProgress {
	return &labProgress{w: p.Stderr, redraw: process.IsTerminal(p.Stderr) && !p.Linewise}
}

func (s *labProgress) report(r lab.Progress) {
	text := progressText(r)
	if s.redraw {
		// Return, then erase to the end of the line.
		fmt.Fprintf(s.w, process.Overwrite+"%s", text)
		s.open = true
		if r.Stage == lab.StageBuilt || r.Stage == lab.StageReady {
			s.end()
		}
		return
	}
	key := r.Part + string(r.Stage)
	if r.Total > 0 {
		key += fmt.Sprint(4 * r.Done / r.Total)
	}
	if key != s.last {
		s.last = key
		fmt.Fprintln(s.w, text)
	}
}

// end leaves the line that was rewritten.
func (s *labProgress) end() {
	if s.open {
		s.open = false
		fmt.Fprintln(s.w)
	}
}

// stageWord says in words what is being done.
func stageWord(s lab.Stage) string {
	switch s {
	case lab.StageWait:
		return "waiting"
	case lab.StageFetch:
		return "fetching modules,"
	case lab.StageBuild:
		return "compiling"
	case lab.StageLink:
		return "linking"
	case lab.StageStart:
		return "starting"
	}
	return string(s)
}

// progressText says what, how far and roughly how long.
func progressText(r lab.Progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Part, stageWord(r.Stage))
	switch {
	case r.Total > 0:
		fmt.Fprintf(&b, " %d/%d (%d%%)", r.Done, r.Total, 100*r.Done/r.Total)
	case r.Done > 0:
		fmt.Fprintf(&b, " %d", r.Done)
	}
	if r.Elapsed >= time.Second {
		fmt.Fprintf(&b, ", %s", r.Elapsed.Round(time.Second))
	}
	if r.Left > 0 {
		fmt.Fprintf(&b, ", about %s left", roughly(r.Left))
	}
	if r.Text != "" {
		b.WriteString(": " + process.Safe(r.Text))
	}
	return b.String()
}

// roughly rounds what is only a guess, so that it does not jump about.
func roughly(d time.Duration) time.Duration {
	switch {
	case d > 2*time.Minute:
		return d.Round(30 * time.Second)
	case d > 20*time.Second:
		return d.Round(10 * time.Second)
	}
	return d.Round(time.Second)
}
