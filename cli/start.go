package cli

import (
	"context"

	"github.com/spf13/cobra"

	"handrail/cli/books"
	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/session"
	"handrail/tui"
)

func startCommand(p *process.Program) *cobra.Command {
	var pairs []string
	var plain bool
	cmd := &cobra.Command{
		Use: "start RUNBOOK", Short: "Open an incident and walk it in the terminal",
		Long: `start opens an incident with a runbook and walks it in the terminal. With --plain
it talks line by line on stdin and stdout instead: nothing is redrawn, nothing
depends on colour, and it works with a screen reader and through a pipe.

RUNBOOK is an id or a file. An id means the runbook of the repository
(.handrail/runbooks at its root), else that of the team ($XDG_CONFIG_HOME/handrail/runbooks),
else the one that comes with handrail, which embedded:ID names in any case. One that
does not come with handrail is shown and trusted first: see handrail runbook trust.`,
		Args: process.Exactly("a RUNBOOK; see `handrail runbook list`"),
	}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter of the runbook, as `name=value`; may be repeated")
	cmd.Flags().BoolVar(&plain, "plain", false, "talk line by line instead of drawing screens")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plain = plainly(p, plain)
		given, err := settings.Pairs(pairs)
		if err != nil {
			return err
		}
		b, err := books.Asked(p, args[0])
		if err != nil {
			return err
		}
		rb := b.Runbook
		params, err := settings.Bind(rb, given)
		if !plain && args[0] == rb.ID && runbooks.OnlyRequired(err) {
			return ask(cmd.Context(), p, rb.ID, given)
		}
		if err != nil {
			return err
		}
		c, err := newConfig(p)
		if err != nil {
			return err
		}
		tellReadOnly(p, c)
		same := sameTarget(p, c, rb, params)
		warnSame(p.Stderr, p, same)
		if !plain {
			if id := resumeInstead(p, same); id != "" {
				path, err := bundle.Find(p, id)
				if err != nil {
					return err
				}
				return resume(cmd.Context(), p, path, resuming{})
			}
		}
		if err := signIn(cmd.Context(), p, &c); err != nil {
			return err
		}
		s, err := session.Start(cmd.Context(), c, session.Begin{Runbook: rb, Params: params})
		if err != nil {
			return err
		}
		return drive(cmd.Context(), p, world{config: c}, s, plain)
	}
	return cmd
}

// ask opens the terminal with the sheet that asks for the parameters that a runbook
// lacks, and goes on from there.
func ask(ctx context.Context, p *process.Program, id string, given map[string]string) error {
	c, err := newConfig(p)
	if err != nil {
		return err
	}
	if err := signIn(ctx, p, &c); err != nil {
		return err
	}
	face := face(p, c)
	face.Begin = &tui.Start{Runbook: id, Given: given}
	if err := draw(ctx, p, face); err != nil && !interrupted(ctx, err) {
		return err
	}
	return nil
}
