package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/evidence/disk"
	"handrail/session"
	sessionwalk "handrail/session/walk"
)

func resumeCommand(p *process.Program) *cobra.Command {
	var file, why string
	var plain bool
	cmd := &cobra.Command{
		Use: "resume [INCIDENT]", Short: "Go on with an incident, the newest open one by default",
		Long: `resume opens an incident in the state that its journal tells. A probe that was cut
off is recorded as cancelled, an armed gate is disarmed, and an act whose end is
not known shuts every gate until its target was read again. Who goes on where another
operator was at the keyboard says why: both names and the reason are recorded. While another handrail
has the incident, it is shown as it goes, to look on only.`,
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
		var answers *sessionwalk.Answers
		if file != "" {
			if answers, err = readAnswers(p, file, nil); err != nil {
				return err
			}
		} else {
			plain = plainly(p, plain)
		}
		ctx := cmd.Context()
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
			err = play(ctx, p, w, s, w.script(p, answers), *o)
		} else {
			err = walk(ctx, p, w, s, plain)
		}
		if w.drill != nil {
			return errors.Join(afterDrill(ctx, p, w, s), err)
		}
		return err
	}
	return cmd
}

// askWhy asks why somebody else goes on. It reads no further than the line, since
// what is typed next is for the screens.
func askWhy(p *process.Program, reason error) string {
	fmt.Fprintf(p.Stderr, "%s\nWhy do you go on? It is recorded as a hand-over (empty: you do not): ", process.Safe(reason.Error()))
	var line []byte
	for one := make([]byte, 1); len(line) < 1<<10; {
		n, err := p.Stdin.Read(one)
		if n == 1 && one[0] == '\n' || err != nil {
			break
		}
		line = append(line, one[:n]...)
	}
	return strings.TrimSpace(string(line))
}

// lookOn shows an incident that another handrail has, as it goes. Where that
// cannot be, the reason why it was not resumed is what to say.
func lookOn(ctx context.Context, p *process.Program, path string, locked error) error {
	tape, err := session.Follow(path, bundle.Reading(p))
	if err != nil {
		return errors.Join(bundle.ResumeError(locked), err)
	}
	fmt.Fprintf(p.Stderr, "%s\nIt is shown as it goes; nothing can be done in it here.\n", process.Safe(locked.Error()))
	return look(ctx, p, tape)
}

// newestOpen is the bundle that is meant: the one named, or the newest that is
// not closed.
func newestOpen(p *process.Program, args []string) (string, error) {
	if len(args) == 1 {
		return bundle.Find(p, args[0])
	}
	rows, err := bundle.Rows(p)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.Outcome == "" && r.Err == "" {
			return r.Path, nil
		}
	}
	return "", process.Usage("see `handrail bundle list`, or open one with `handrail start RUNBOOK`", "no incident is open")
}
