package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/drills"
	"handrail/drills/lab"
	"handrail/session"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/tui"
)

func drillCommand(p *process.Program) *cobra.Command {
	cmd := process.Group("drill", "Practise on a real failure in the lab", drillList(p), drillStart(p), drillRun(p), drillStop(p), drillScore(p))
	labSource(p, cmd)
	return cmd
}

// drillRow is the public form of a drill.
type drillRow struct {
	ID       string   `json:"id"`
	Runbook  string   `json:"runbook"`
	Variants []string `json:"variants"`
	Backends []string `json:"backends"` // of the state that it can be started on; none where it has no choice
	Title    string   `json:"title"`
	Started  bool     `json:"started"`
	Cluster  bool     `json:"cluster"` // it needs the practice cluster
}

func drillList(p *process.Program) *cobra.Command {
	return process.Listing[drillRow]{
		Head: []string{"DRILL", "RUNBOOK", "VARIANTS", "CLUSTER", "NOW", "TITLE"},
		Row: func(d drillRow) []string {
			now := ""
			if d.Started {
				now = "started"
			}
			cluster := "no"
			if d.Cluster {
				cluster = "yes"
			}
			return []string{d.ID, d.Runbook, fmt.Sprint(d.Variants), cluster, now, d.Title}
		},
		JSON: func(d drillRow) any { return d },
	}.Command(p, "List the drills", func() ([]drillRow, error) {
		list, err := drills.List(catalog.New())
		if err != nil {
			return nil, err
		}
		state, err := p.StateDir()
		if err != nil {
			return nil, err
		}
		active, err := drills.ListActive(state)
		if err != nil {
			return nil, err
		}
		var out []drillRow
		for _, d := range list {
			out = append(out, drillRow{d.ID, d.Runbook, process.OrEmpty(d.Variants), process.OrEmpty(d.Backends), d.Title, started(active, d.ID), d.Cluster})
		}
		return out, nil
	})
}

func started(active []drills.Active, id string) bool {
	for _, a := range active {
		if a.ID == id {
			return true
		}
	}
	return false
}

// played is which form of a drill is meant.
type played struct{ variant, backend string }

func (w *played) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.variant, "variant", "", "`name` of a variant of the drill")
	cmd.Flags().StringVar(&w.backend, "backend", "", "`name` of the backend that keeps the state, of those that the drill or its variant runs on")
}

// scene finds a drill and applies a variant, and puts its state on another backend.
func scene(id string, w played) (drills.Scene, error) {
	d, err := drills.Lookup(id, catalog.New())
	if err != nil {
		return drills.Scene{}, process.Usage("see `handrail drill list`", "%w", err)
	}
	s, err := d.On(w.variant, w.backend)
	if err != nil {
		return drills.Scene{}, process.Usage("see `handrail drill list`", "%w", err)
	}
	return s, nil
}

func drillStart(p *process.Program) *cobra.Command {
	var form played
	var plain bool
	cmd := &cobra.Command{
		Use: "start DRILL", Short: "Break something in the lab and walk it in the terminal",
		Long: `start says what has to be built and how long that takes, starts the lab if the drill
needs it, injects the failure and opens the incident in the terminal. The drill goes on
until the incident is closed or 'handrail drill stop'.

A drill without a cluster (see 'handrail drill list') takes the tofu or terraform on PATH
where it is ` + lab.FitFor + `, and builds a tofu only otherwise.

--backend keeps the state of a drill on another backend than it is written for, on a server of
this machine: what can be read and done there differs, as docs/backends.md says. Which drills
have a choice is in 'handrail drill list -o json', and in the completion of the flag.`,
		Args: process.Exactly("a DRILL; see `handrail drill list`"),
	}
	form.flags(cmd)
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		sc, err := scene(args[0], form)
		if err != nil {
			return err
		}
		plain = plainly(p, plain)
		p.Linewise = plain
		ctx := cmd.Context()
		w, s, err := beginDrill(ctx, p, sc, func(text string) { fmt.Fprintln(p.Stderr, process.Safe(text)) })
		if err != nil {
			return err
		}
		fmt.Fprintf(p.Stderr, "The page: %s\n", process.Safe(sc.Drill.Page))
		if sc.Drill.Goal != "" {
			fmt.Fprintf(p.Stderr, "To win: %s\n", process.Safe(sc.Drill.Goal))
		}
		err = drive(ctx, p, w, s, plain)
		return errors.Join(afterDrill(ctx, p, w, s), err)
	}
	return cmd
}

// world is what an incident is walked in: the configuration of its session and,
// for a drill, the drill.
type world struct {
	config session.Config
	drill  *drills.Running // nil for a real incident
	vars   map[string]string
	lab    *lab.Lab      // nil for a drill without a cluster
	ending *drillVerdict // how the drill was judged; nil for a real incident
}

// resume goes on with the incident of this world.
func (w world) resume(ctx context.Context, path string) (*session.Session, error) {
	s, err := session.Resume(ctx, w.config, path)
	if err == nil && w.drill != nil {
		w.drill.Follow() // not before: a gate that was armed is disarmed by now
	}
	return s, err
}

// script is how a script walks in this world.
func (w world) script(p *process.Program, a *walk.Answers) walk.Script {
	by := walk.Script{Answers: a, Vars: scriptVars(p, w.vars), Talk: talk{p.Stderr}, Approval: approvalIn}
	if w.drill != nil {
		by.Before, by.Late = w.drill.Before, w.drill.Late
	}
	return by
}

// story tells what the drill of this world is about, nil for a real incident.
func (w world) story(home string) *tui.Story {
	if w.drill == nil {
		return nil
	}
	d := w.drill.Scene().Drill
	out := &tui.Story{Title: d.Title, Happened: d.Page, Goal: d.Goal}
	params := w.drill.Params()
	for _, k := range process.SortedKeys(params) {
		out.There = append(out.There, steps.KV{Key: k, Value: tilde(params[k], home)})
	}
	if ns := w.config.Env.Namespace; ns != "" && params["namespace"] == "" {
		out.There = append(out.There, steps.KV{Key: "namespace", Value: ns})
	}
	return out
}

// tilde writes a path as a shell knows it: it fits on a line then.
func tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok && filepath.IsAbs(home) {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// close lets go of the drill; it goes on.
func (w world) close() error {
	if w.drill == nil {
		return nil
	}
	return errors.Join(w.drill.Close(), leaveLab(w.lab))
}

func drillOptions(p *process.Program, l *lab.Lab, progress func(string)) (drills.Options, error) {
	state, err := p.StateDir()
	if err != nil {
		return drills.Options{}, err
	}
	exe, err := os.Executable()
	return drills.Options{Lab: l, Bucket: []string{exe, bucketWord}, Realm: []string{exe, realmWord}, AWS: []string{exe, awsWord}, Store: []string{exe, storeWord}, Source: p.LabSource,
		State: state, Catalog: catalog.New(), Now: p.Now, Progress: progress}, err
}

// ground is where a scene is walked: the lab, started if need be, or for a scene without a
// cluster no lab at all. What has to be built is said before that begins.
func ground(ctx context.Context, p *process.Program, sc drills.Scene, progress func(string)) (o drills.Options, err error) {
	say, err := needsOf(ctx, p, sc)
	if err != nil {
		return o, labError(err)
	}
	if say != "" {
		progress(say)
	}
	show := newLabProgress(p)
	defer show.end()
	report := show.report
	if p.Drawing {
		report = func(r lab.Progress) { progress(progressText(r)) }
	}
	if !sc.Cluster() {
		return apart(ctx, p, report, progress)
	}
	bare := !slices.Contains(sc.Programs(), "tofu")
	l, err := lab.Up(ctx, lab.Options{Source: p.LabSource, Progress: report, Bare: bare})
	if err != nil {
		return o, labError(err)
	}
	if o, err = drillOptions(p, l, progress); err != nil {
		return o, errors.Join(err, l.Close())
	}
	return o, nil
}

// leaveLab lets go of the lab, where there is one.
func leaveLab(l *lab.Lab) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// beginDrill finds the ground of a scene, injects it and opens the incident.
func beginDrill(ctx context.Context, p *process.Program, sc drills.Scene, progress func(string)) (_ world, _ *session.Session, err error) {
	o, err := ground(ctx, p, sc, progress)
	if err != nil {
		return world{}, nil, err
	}
	l := o.Lab
	r, err := drills.Start(ctx, o, sc)
	if err != nil {
		return world{}, nil, errors.Join(drillError(err), leaveLab(l))
	}
	w, err := inDrill(p, l, r)
	var s *session.Session
	if err == nil {
		s, err = startIn(ctx, w)
	}
	if err != nil {
		return world{}, nil, errors.Join(err, r.Close(), drills.Stop(context.WithoutCancel(ctx), o, r.ID()), leaveLab(l))
	}
	return w, s, nil
}

// startIn opens the incident of a drill, and lets the drill watch it.
func startIn(ctx context.Context, w world) (*session.Session, error) {
	rb, err := w.config.Library(w.drill.Runbook())
	if err != nil {
		return nil, err
	}
	params, err := rb.Bind(w.drill.Params())
	if err != nil {
		return nil, err
	}
	s, err := session.Start(ctx, w.config, session.Begin{Runbook: rb, Params: params, Drill: w.drill.ID()})
	if err != nil {
		return nil, err
	}
	if err := w.drill.SetBundle(s.Snapshot().Bundle); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	w.drill.Follow()
	return s, nil
}

// inDrill is the world of a drill: its cluster, its identities, its tofu. The
// operator's own kubeconfig is out of it.
func inDrill(p *process.Program, l *lab.Lab, r *drills.Running) (world, error) {
	real, err := stepEnv(p)
	if err != nil {
		return world{}, err
	}
	env := r.Env(real)
	inside := *p
	if inside.State, err = p.StateDir(); err != nil {
		return world{}, err
	}
	inside.Reach = process.Reach{Kubeconfig: env.Kubeconfig, Context: env.Context, Namespace: env.Namespace}
	inside.Environ = env.Environ
	c, err := newConfig(&inside)
	if err != nil {
		return world{}, err
	}
	c.Env = env
	c.Library = settings.Embedded // a drill is judged by the runbook that it was written for
	c.Execute = executor(&inside, r.Dir())
	secrets, err := r.Secrets()
	if err != nil {
		return world{}, err
	}
	c.Secrets = append(c.Secrets, secrets...)
	c.Practice = r.Practice()
	c = r.Undo(c)
	return world{config: c, drill: r, vars: r.Vars(), lab: l, ending: &drillVerdict{}}, nil
}
