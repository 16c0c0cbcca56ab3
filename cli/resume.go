package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"handrail/evidence"
	"handrail/session"
)

func resumeCommand(p *program) *cobra.Command {
	var file string
	var plain bool
	cmd := &cobra.Command{
		Use: "resume [INCIDENT]", Short: "Go on with an incident, the newest open one by default",
		Long: `resume opens an incident in the state that its journal tells. A probe that was cut
off is recorded as cancelled, an armed gate is disarmed, and an act whose end is
not known shuts every gate until its target was read again.`,
		Args: between(0, "INCIDENT"),
	}
	cmd.Flags().StringVar(&file, "answers", "", "go on headless, by this answers `file`")
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
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
		} else if !plain {
			if err := p.needsTerminal("or use --plain, or --answers FILE"); err != nil {
				return err
			}
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
		s, err := w.resume(ctx, path)
		if err != nil {
			return errors.Join(resumeError(err), w.close())
		}
		if answers != nil {
			err = p.play(ctx, s, w.script(p, answers), *o)
		} else {
			err = p.walk(ctx, w.config, s, plain)
		}
		if w.drill != nil {
			return errors.Join(p.afterDrill(ctx, w, s), err)
		}
		return err
	}
	return cmd
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
	switch {
	case errors.Is(err, evidence.ErrLocked):
		return &problem{code: ExitUsage, err: err, next: "look at it with `handrail bundle show`, or `handrail replay`; go on once the other handrail has ended"}
	case errors.Is(err, evidence.ErrCorrupt):
		return &problem{code: ExitTampered, err: err, next: "see what is wrong with `handrail bundle verify`; nothing was changed"}
	case errors.Is(err, evidence.ErrUnknownEntry):
		return &problem{code: ExitUsage, err: err, next: "resume it with the handrail that wrote it"}
	}
	return err
}
