package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/drills"
	"handrail/drills/lab"
	"handrail/session/journal"
	"handrail/session/pin"
	"handrail/steps/catalog"
	"handrail/tui"
)

func drillRun(p *process.Program) *cobra.Command {
	var form played
	var auto bool
	cmd := &cobra.Command{
		Use: "run DRILL --auto", Short: "Play the reference answers of a drill, headless, and judge it",
		Long: `run starts the lab if the drill needs it, injects the failure, walks it by the reference
answers, judges the win conditions with a client of its own and stops the drill. It
ends with the code of the walk when everything was as the drill expects, else with 5.`,
		Args: process.Exactly("a DRILL; see `handrail drill list`"),
	}
	form.flags(cmd)
	cmd.Flags().BoolVar(&auto, "auto", false, "play the reference answers")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		sc, err := scene(args[0], form)
		if err != nil {
			return err
		}
		if !auto {
			return process.Usage("walk it yourself with `handrail drill start "+args[0]+"`", "drill run plays the reference answers: say --auto")
		}
		rep, err := autoDrill(cmd.Context(), p, sc)
		if err != nil {
			return err
		}
		err = o.Print(p, rep, func() error { return printReport(p.Stdout, rep) })
		if err != nil {
			return err
		}
		return process.Ended(rep.Code)
	}
	return cmd
}

func autoDrill(ctx context.Context, p *process.Program, sc drills.Scene) (drills.Report, error) {
	// The walk happens in the lab: the operator's own cluster is not even named.
	inside := *p
	var err error
	if inside.State, err = p.StateDir(); err != nil {
		return drills.Report{}, err
	}
	inside.Reach = process.Reach{}
	inside.Environ = process.Without(p.Environ, "KUBECONFIG", "HOME")
	if p.Getenv("XDG_CONFIG_HOME") == "" {
		// The team's redaction rules hold in the lab too.
		inside.Environ = append(inside.Environ, "XDG_CONFIG_HOME="+filepath.Join(p.Home(), ".config"))
	}
	c, err := newConfig(&inside)
	if err != nil {
		return drills.Report{}, err
	}
	if c.Env, err = stepEnv(p); err != nil {
		return drills.Report{}, err
	}
	c.Header, c.Identify = nil, nil
	o, err := ground(ctx, p, sc, func(text string) { fmt.Fprintln(p.Stderr, process.Safe(text)) })
	if err != nil {
		return drills.Report{}, err
	}
	rep, err := drills.RunAuto(ctx, o, c, sc, talk{p.Stderr})
	return rep, errors.Join(drillError(err), leaveLab(o.Lab))
}

func drillError(err error) error {
	switch {
	case errors.Is(err, drills.ErrRunning), errors.Is(err, drills.ErrNotStarted):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "see `handrail drill list`"}
	}
	return err
}

func printReport(w io.Writer, r drills.Report) error {
	fmt.Fprintf(w, "drill:    %s\n", r.Drill)
	if r.Variant != "" {
		fmt.Fprintf(w, "variant:  %s\n", r.Variant)
	}
	if r.Backend != "" {
		fmt.Fprintf(w, "backend:  %s\n", r.Backend)
	}
	if r.Session.Outcome != "" {
		fmt.Fprintf(w, "outcome:  %s\n", r.Session.Outcome)
	}
	if r.Session.Refused != "" {
		fmt.Fprintf(w, "refused:  %s\n", process.Safe(r.Session.Refused))
	}
	if r.Session.Why != "" {
		fmt.Fprintf(w, "why:      %s\n", process.Safe(r.Session.Why))
	}
	fmt.Fprintf(w, "bundle:   %s\n", process.Safe(r.Bundle))
	for _, line := range r.Debrief.Lines() {
		process.Lines(w, "", line)
	}
	fmt.Fprintf(w, "Writes by the operator in the audit log of the lab: %d, each named by an act: %t\n", len(r.Proof.Writes), r.Proof.OK)
	for _, f := range r.Failed {
		process.Lines(w, "NOT AS EXPECTED: ", f)
	}
	return nil
}

func drillStop(p *process.Program) *cobra.Command {
	return &cobra.Command{
		Use: "stop [DRILL]", Short: "Stop a drill and what it started; its bundle stays",
		Args: process.Between(0, "a DRILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := p.StateDir()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				active, err := drills.ListActive(state)
				if err != nil {
					return err
				}
				for _, a := range active {
					args = append(args, a.ID)
				}
			}
			if len(args) == 0 {
				fmt.Fprintln(p.Stderr, "No drill is started.")
				return nil
			}
			l, err := lab.Open(cmd.Context(), lab.Options{Source: p.LabSource})
			if err != nil && !errors.Is(err, lab.ErrNotRunning) {
				return err
			}
			if l != nil {
				defer l.Close()
			}
			for _, id := range args {
				if err := drills.Stop(cmd.Context(), drills.Options{Lab: l, State: state, Catalog: catalog.New(), Now: p.Now}, id); err != nil {
					return drillError(err)
				}
				fmt.Fprintf(p.Stderr, "Stopped %s.\n", process.Safe(id))
			}
			return nil
		},
	}
}

// worldOf is where a bundle is gone on with. A drill's incident is never walked
// outside its drill: its facts are about the lab, and the cluster of the
// operator is another one.
func worldOf(ctx context.Context, p *process.Program, path string) (world, error) {
	st, err := journal.LoadState(path)
	if err != nil || st.Drill == "" {
		// What is wrong with the journal is said by the resume itself.
		c, err := newConfig(aboutDrill(p, path))
		if err == nil {
			tellReadOnly(p, c)
		}
		return world{config: c, vars: map[string]string{}}, err
	}
	gone := func(err error, l *lab.Lab) (world, error) {
		return world{}, errors.Join(process.Hint(drillError(err), "the drill behind this incident is gone; its evidence stays: handrail bundle show "+bundle.IDOf(path)), leaveLab(l))
	}
	o, err := drillOptions(p, nil, nil)
	if err != nil {
		return world{}, err
	}
	needs, err := drills.Cluster(o, st.Drill)
	switch {
	case errors.Is(err, drills.ErrNotStarted):
		return gone(err, nil)
	case err != nil:
		return world{}, err
	case needs:
		if o.Lab, err = startLab(ctx, p); err != nil {
			return world{}, err
		}
	}
	r, err := drills.Open(ctx, o, st.Drill)
	if err != nil {
		return gone(err, o.Lab)
	}
	return inDrill(p, o.Lab, r)
}

// aboutDrill is the program in the context that an incident is about, whichever is
// current now. Where the operator names another, the incident says whether it is
// the same cluster.
func aboutDrill(p *process.Program, path string) *process.Program {
	name, ok, err := pin.OwnContext(path)
	if p.Context != "" || !ok || err != nil {
		return p
	}
	inside := *p
	inside.Context = name
	return &inside
}

// openDrill starts a drill from the terminal UI.
func openDrill(ctx context.Context, p *process.Program, id, variant string, progress func(string)) (tui.Incident, error) {
	sc, err := scene(id, played{variant: variant})
	if err != nil {
		return nil, err
	}
	inside := *p
	inside.Drawing = true
	w, s, err := beginDrill(ctx, &inside, sc, progress)
	if err != nil {
		return nil, err
	}
	return &drillSession{s, p, w}, nil
}

func drillRows(p *process.Program) ([]tui.DrillRow, error) {
	list, err := drills.List(catalog.New())
	// Those that wait for no cluster come first.
	slices.SortStableFunc(list, func(a, b drills.Row) int {
		switch {
		case a.Cluster == b.Cluster:
			return 0
		case b.Cluster:
			return -1
		}
		return 1
	})
	var out []tui.DrillRow
	for _, d := range list {
		say := ""
		if d.Cluster {
			say, _ = needs(p, d.Programs) // the start of the drill says what is wrong there
		}
		out = append(out, tui.DrillRow{ID: d.ID, Title: d.Title, Page: d.Page, Goal: d.Goal, Runbook: d.Runbook, Needs: say, Variants: d.Variants})
	}
	return out, err
}
