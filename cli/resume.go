package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"handrail/evidence"
	"handrail/evidence/disk"
	"handrail/session"
)

func resumeCommand(p *program) *cobra.Command {
	var file, why string
	var plain bool
	cmd := &cobra.Command{
		Use: "resume [INCIDENT]", Short: "Go on with an incident, the newest open one by default",
		Long: `resume opens an incident in the state that its journal tells. A probe that was cut
off is recorded as cancelled, an armed gate is disarmed, and an act whose end is
not known shuts every gate until its target was read again. Who goes on where another
operator was at the keyboard says why: both names and the reason are recorded. While another handrail
has the incident, it is shown as it goes, to look on only.`,
		Args: between(0, "INCIDENT"),
	}
	cmd.Flags().StringVar(&file, "answers", "", "go on headless, by this answers `file`")
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
	cmd.Flags().StringVar(&why, "why", "", "take over from another operator, for this `reason`; it is recorded")
	o := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := p.newestOpen(args)
		if err != nil {
			return err
		}
		var answers *session.Answers
		if file != "" {
			if answers, err = p.answers(file, nil); err != nil {
				return err
			}
		} else {
			plain = p.plainly(plain)
		}
		ctx := cmd.Context()
		w, err := p.worldOf(ctx, path)
		if err != nil {
			return err
		}
		if answers == nil {
			if err := p.signIn(ctx, &w.config); err != nil {
				return errors.Join(err, w.close())
			}
		}
		w.config.Takeover = why
		s, err := w.resume(ctx, path)
		if errors.Is(err, session.ErrHandover) && answers == nil && p.interactive() {
			if w.config.Takeover = p.askWhy(err); w.config.Takeover != "" {
				s, err = w.resume(ctx, path)
			}
		}
		if errors.Is(err, disk.ErrLocked) && answers == nil && !plain {
			return errors.Join(p.lookOn(ctx, path, err), w.close())
		}
		if err != nil {
			return errors.Join(resumeError(err), w.close())
		}
		if answers != nil {
			err = p.play(ctx, w, s, w.script(p, answers), *o)
		} else {
			err = p.walk(ctx, w, s, plain)
		}
		if w.drill != nil {
			return errors.Join(p.afterDrill(ctx, w, s), err)
		}
		return err
	}
	return cmd
}

// askWhy asks why somebody else goes on. It reads no further than the line, since
// what is typed next is for the screens.
func (p *program) askWhy(reason error) string {
	fmt.Fprintf(p.stderr, "%s\nWhy do you go on? It is recorded as a hand-over (empty: you do not): ", safe(reason.Error()))
	var line []byte
	for one := make([]byte, 1); len(line) < 1<<10; {
		n, err := p.stdin.Read(one)
		if n == 1 && one[0] == '\n' || err != nil {
			break
		}
		line = append(line, one[:n]...)
	}
	return strings.TrimSpace(string(line))
}

// lookOn shows an incident that another handrail has, as it goes. Where that
// cannot be, the reason why it was not resumed is what to say.
func (p *program) lookOn(ctx context.Context, path string, locked error) error {
	tape, err := session.Follow(path, p.reading())
	if err != nil {
		return errors.Join(resumeError(locked), err)
	}
	fmt.Fprintf(p.stderr, "%s\nIt is shown as it goes; nothing can be done in it here.\n", safe(locked.Error()))
	return p.look(ctx, tape)
}

// newestOpen is the bundle that is meant: the one named, or the newest that is
// not closed.
func (p *program) newestOpen(args []string) (string, error) {
	if len(args) == 1 {
		return p.find(args[0])
	}
	rows, err := p.rows()
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.Outcome == "" && r.Err == "" {
			return r.Path, nil
		}
	}
	return "", usage("see `handrail bundle list`, or open one with `handrail start RUNBOOK`", "no incident is open")
}

func resumeError(err error) error {
	var renamed *session.RenamedError
	switch {
	case errors.As(err, &renamed):
		return &problem{code: ExitUsage, err: err, next: fmt.Sprintf("read it with `handrail bundle show`; to go on, resume the original, or move this folder to one named %s, and only if the original is gone", renamed.Want)}
	case errors.Is(err, disk.ErrLocked):
		return &problem{code: ExitUsage, err: err, next: "look at it with `handrail bundle show`, or `handrail replay`; go on once the other handrail has ended"}
	case errors.Is(err, session.ErrHandover):
		return &problem{code: ExitUsage, err: err, next: "say why you go on, with --why; both names and the reason are recorded; or look on with `handrail follow`"}
	case errors.Is(err, evidence.ErrCorrupt):
		return &problem{code: ExitTampered, err: err, next: "see what is wrong with `handrail bundle verify`; nothing was changed"}
	case errors.Is(err, evidence.ErrUnknownEntry):
		return &problem{code: ExitUsage, err: err, next: "resume it with the handrail that wrote it"}
	}
	return err
}
