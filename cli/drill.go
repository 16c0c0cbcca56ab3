package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"handrail/session"
	"handrail/tui"
)

func drillCommand(p *program) *cobra.Command {
	return group("drill", "Practise on a real failure in the lab")
}

func (p *program) drillRows() ([]tui.DrillRow, error) { return nil, nil }

func (p *program) openDrill(context.Context, string, string, func(string)) (tui.Incident, error) {
	return nil, errors.New("not yet")
}

func (p *program) sessionFor(context.Context, string) (session.Config, error) { return p.session() }
