package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/evidence"
	"handrail/evidence/disk"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/journal"
	"handrail/session/replay"
	"handrail/session/walk"
	"handrail/steps/catalog"
)

func resumeCommand(p *process.Program) *cobra.Command {
	var file, why string
	var plain bool
	cmd := &cobra.Command{
		Use: "resume [INCIDENT]", Short: "Resume an incident, by default the newest open one",
		Long: `resume opens an incident in the state that its journal tells. A probe that was cut
off is recorded as cancelled, an armed gate is disarmed, and an act whose end is
not known shuts every gate until its target was read again. To take over where another
operator was at the keyboard, say why: both names and the reason are recorded. While another handrail
has the incident, it is shown live and read-only.`,
		Args: process.Between(0, "INCIDENT"),
	}
	cmd.Flags().StringVar(&file, "answers", "", "go on headless, by this answers `file`")
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
	cmd.Flags().StringVar(&why, "why", "", "take over from another operator, for this `reason`; it is recorded")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := newestOpen(p, args)
		if err != nil {
			return err
		}
		var answers *walk.Answers
		if file != "" {
			if answers, err = readAnswers(p, file, inForce(path)); err != nil {
				return err
			}
		} else {
			plain = plainly(p, plain)
		}
		return resume(cmd.Context(), p, path, resuming{answers: answers, plain: plain, why: why, as: *o})
	}
	return cmd
}

// resuming is how an incident is resumed: by an answers file, else by a person.
type resuming struct {
	answers *walk.Answers
	plain   bool
	why     string // of taking over
	as      process.Output
}

func resume(ctx context.Context, p *process.Program, path string, how resuming) error {
	answers, plain, why := how.answers, how.plain, how.why
	w, err := worldOf(ctx, p, path)
	if err != nil {
		return err
	}
	if answers == nil {
		if err := signIn(ctx, p, &w.config); err != nil {
			return errors.Join(err, w.close())
		}
	}
	w.config.Takeover = why
	s, err := w.resume(ctx, path)
	if errors.Is(err, session.ErrHandover) && answers == nil && p.Interactive() {
		if w.config.Takeover = askWhy(p, err); w.config.Takeover != "" {
			s, err = w.resume(ctx, path)
		}
	}
	if errors.Is(err, disk.ErrLocked) && answers == nil && !plain {
		return errors.Join(lookOn(ctx, p, path, err), w.close())
	}
	if err != nil {
		return errors.Join(bundle.ResumeError(err), w.close())
	}
	if answers != nil {
		err = play(ctx, p, w, s, w.script(p, answers), how.as)
	} else {
		err = drive(ctx, p, w, s, plain)
	}
	if w.drill != nil {
		return errors.Join(afterDrill(ctx, p, w, s), err)
	}
	return err
}

// inForce is the runbook that an incident is in, as the incident took it up; nil where
// that cannot be read, which is said by what goes on with it.
func inForce(path string) *runbooks.Runbook {
	st, err := journal.LoadState(path)
	if err != nil || len(st.Plans) == 0 {
		return nil
	}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil
	}
	defer r.Close()
	rb, err := journal.Runbook(r, st.Plan(), catalog.New())
	if err != nil {
		return nil
	}
	return rb
}

// askWhy asks why another person goes on.
func askWhy(p *process.Program, reason error) string {
	fmt.Fprintf(p.Stderr, "%s\nWhy do you go on? It is recorded as a hand-over (empty: you do not): ", process.Safe(reason.Error()))
	return p.ReadLine()
}

// lookOn shows an incident that another handrail has, as it goes. Where that
// cannot be, the reason why it was not resumed is what to say.
func lookOn(ctx context.Context, p *process.Program, path string, locked error) error {
	tape, err := replay.Follow(path, bundle.Reading(p))
	if err != nil {
		return errors.Join(bundle.ResumeError(locked), err)
	}
	fmt.Fprintf(p.Stderr, "%s\nIt is shown as it goes; nothing can be done in it here.\n", process.Safe(locked.Error()))
	return look(ctx, p, tape)
}

// newestOpen is the bundle that is meant: the one named, or the newest that is
// not closed; that of a drill only where no real incident is open.
func newestOpen(p *process.Program, args []string) (string, error) {
	if len(args) == 1 {
		return bundle.Find(p, args[0])
	}
	rows, err := bundle.Rows(p)
	if err != nil {
		return "", err
	}
	over, err := stoppedDrills(p)
	if err != nil {
		return "", err
	}
	for _, practised := range []bool{false, true} {
		for _, r := range rows {
			if r.Outcome == "" && r.Err == "" && r.Kind == "" && (r.Drill != "") == practised && !over(r) {
				return r.Path, nil
			}
		}
	}
	return "", process.Usage("see `handrail bundle list`, or open one with `handrail start RUNBOOK`", "no incident is open")
}
