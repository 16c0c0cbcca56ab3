package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/cli/watchdog"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/catalog"
)

func runCommand(p *process.Program) *cobra.Command {
	var pairs []string
	var file string
	var dry, template bool
	var dog watchdog.Flags
	cmd := &cobra.Command{
		Use: "run RUNBOOK --answers FILE", Short: "Walk a runbook headless, by an answers file, or read its watches once",
		Long: `run opens an incident and does what the loop recommends as long as the answers
file says how. It ends when the incident is closed or the file has no word for
what comes next; the exit code says which. What the terminal would not take is refused
here too: an answer without how it is known, a conclusion without a reason, a required
step that is passed over. Nothing in an answers file says yes to
everything: each gate takes its own phrase, and what the facts propose is accepted
for the topics that the file names. What a person said before stays, unless the
file says otherwise with a reason.

--template prints such a file to fill in, with every question, its choices and the
defaults as comments; handrail bundle export --answers makes one from an incident.
With --dry-run it opens nothing and lists every read that the runbook may do.

With --check it opens no incident and keeps nothing: it reads the probes and watches of a
runbook that has nothing else once, for a scheduler. It ends with 0 where every watch is
green, and with 3 where one is not or cannot be told. --junit and --textfile write the same for
CI and for Prometheus.`,
		Args: process.Exactly("a RUNBOOK; see `handrail runbook list`"),
	}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter of the runbook, as `name=value`; may be repeated")
	cmd.Flags().StringVar(&file, "answers", "", "answers `file`")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list the reads and do none of them")
	cmd.Flags().BoolVar(&template, "template", false, "print an answers file to fill in, and open nothing")
	dog.Add(cmd)
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := dog.Fit(file != "" || dry || template); err != nil {
			return err
		}
		if template && (file != "" || dry) {
			return process.Usage("leave out --answers and --dry-run", "--template only prints a file to fill in")
		}
		b, err := settings.Look(p, args[0])
		if err != nil {
			return err
		}
		rb := b.Runbook
		given, err := settings.Pairs(pairs)
		if err != nil {
			return err
		}
		if dog.On {
			return dog.Run(cmd.Context(), p, b, given, *o, func(digest string) (watchdog.Read, error) {
				by, err := newAsideReader(cmd.Context(), p)
				by.env.Runbook = digest
				return by.read, err
			})
		}
		if template {
			_, err := talk{p.Stdout}.Write([]byte(walk.Template(rb, given)))
			return err
		}
		var answers *walk.Answers
		all := map[string]string{}
		if file != "" || !dry {
			if answers, err = readAnswers(p, file, rb); err != nil {
				return err
			}
			maps.Copy(all, answers.Params)
		}
		maps.Copy(all, given) // what is typed goes over what the file says
		params, err := settings.Bind(rb, all)
		if err != nil {
			return err
		}
		if dry {
			return printReads(p, *o, rb)
		}
		if err := b.Check(p); err != nil {
			return err
		}
		c, err := newConfig(p)
		if err != nil {
			return err
		}
		tellReadOnly(p, c)
		for _, key := range answers.Missing(rb) {
			fmt.Fprintf(p.Stderr, "The answers file has no word for %s, which is required: the walk will stop there.\n", key)
		}
		warnSame(p.Stderr, p, sameTarget(p, c, rb, params))
		s, err := session.Start(cmd.Context(), c, session.Begin{Runbook: rb, Params: params})
		if err != nil {
			return err
		}
		return play(cmd.Context(), p, world{}, s, world{}.script(p, answers), *o)
	}
	return cmd
}

// readAnswers reads an answers file and checks it against the runbook, so that a
// slip in it ends before the first read.
func readAnswers(p *process.Program, file string, rb *runbooks.Runbook) (*walk.Answers, error) {
	if file == "" {
		return nil, process.Usage("see `handrail help run`", "--answers FILE is required")
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, process.Usage("name a file that can be read", "reading the answers: %w", err)
	}
	a, err := walk.ParseAnswers(file, src)
	if err != nil {
		return nil, &process.Problem{Code: process.ExitUsage, Err: err}
	}
	if rb == nil {
		return a, nil
	}
	if err := a.Check(rb); err != nil {
		return nil, &process.Problem{Code: process.ExitUsage, Err: err, Next: "nothing was read or changed; fix the file"}
	}
	return a, nil
}

// runReport is the public form of how a headless walk ended.
type runReport struct {
	Incident string `json:"incident"`
	Bundle   string `json:"bundle"`
	Outcome  string `json:"outcome"` // "" while it stays open
	Refused  string `json:"refused,omitempty"`
	Why      string `json:"why,omitempty"`
	Exit     int    `json:"exit"`
}

// play walks an open session by a script and closes it.
func play(ctx context.Context, p *process.Program, w world, s *session.Session, by walk.Script, o process.Output) error {
	r, err := walk.Play(ctx, s, by)
	if err != nil {
		return leave(ctx, p, s, err, " --answers "+by.Answers.File)
	}
	_, judged := w.debriefing(ctx, s) // while it can still be recorded
	if err := errors.Join(judged, s.Close()); err != nil {
		return err
	}
	id := s.Snapshot().State.Incident
	out := runReport{id, s.Snapshot().Bundle, r.Outcome, r.Refused, r.Why, r.Code}
	if err := printPlayed(p, o, out); err != nil {
		return err
	}
	return process.Ended(r.Code)
}

func printPlayed(p *process.Program, o process.Output, r runReport) error {
	w := p.Stdout
	if o == process.AsJSON {
		return process.PrintJSON(p, r)
	}
	outcome := r.Outcome
	if outcome == "" {
		outcome = "still open"
	}
	fmt.Fprintf(w, "incident: %s\noutcome:  %s\n", process.Safe(r.Incident), process.Safe(outcome))
	if r.Refused != "" {
		fmt.Fprintf(w, "refused:  %s\n", process.Safe(r.Refused))
	}
	if r.Why != "" {
		fmt.Fprintf(w, "why:      %s\n", process.Safe(r.Why))
	}
	_, err := fmt.Fprintf(w, "bundle:   %s\n", process.Safe(r.Bundle))
	return err
}

// scriptVars are what phrases of an answers file may use: the environment, and
// the values of a drill.
func scriptVars(p *process.Program, drill map[string]string) map[string]string {
	vars := map[string]string{}
	maps.Copy(vars, drill)
	for _, kv := range p.Environ {
		if key, value, ok := strings.Cut(kv, "="); ok {
			vars["env."+key] = value
		}
	}
	return vars
}

// talk makes what a session tells harmless, line by line.
type talk struct{ w io.Writer }

func (t talk) Write(b []byte) (int, error) {
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if _, err := fmt.Fprintln(t.w, process.Safe(line)); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// plannedRead is one read that a runbook may do.
type plannedRead struct {
	Step    string      `json:"step"`
	Phase   string      `json:"phase"`
	Kind    string      `json:"kind"`
	Class   steps.Class `json:"class"`
	Touches []string    `json:"touches"`
}

func printReads(p *process.Program, o process.Output, rb *runbooks.Runbook) error {
	list := []plannedRead{}
	for _, st := range rb.Steps {
		k, ok := catalog.New().Lookup(st.Uses)
		if !ok || k.Class.Gate() {
			continue
		}
		list = append(list, plannedRead{rb.ID + "/" + st.ID, string(st.Phase), k.Name, k.Class, process.OrEmpty(rb.Tells(st.ID, catalog.New()))})
	}
	if o == process.AsJSON {
		return process.PrintKind(p, "RunReads", list)
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{r.Phase, r.Step, r.Kind, string(r.Class), strings.Join(r.Touches, "; ")})
	}
	return process.Table(p.Stdout, []string{"PHASE", "STEP", "KIND", "CLASS", "TOUCHES"}, rows)
}
