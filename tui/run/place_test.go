package run

import (
	"strings"
	"testing"

	"handrail/session/view"
	"handrail/steps"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

func drawnText(p *ink.Page) string {
	var b strings.Builder
	for _, row := range p.Rows {
		b.WriteString(string(row) + "\n")
	}
	return b.String()
}

// TestPlaceOfAnotherContext: a step that reads production beside an incident
// elsewhere says so before and after it was run.
func TestPlaceOfAnotherContext(t *testing.T) {
	t.Parallel()
	env := &screen.Env{Theme: ink.NewTheme(ink.ThemeAuto, ink.DarkGround), Case: &incident.Case{}}
	r := Screen{Case: env.Case}
	card := view.Card{With: []steps.KV{{Key: steps.ContextParam, Value: "shop-prod"}}}
	p := &ink.Page{W: 70, Theme: &env.Theme}
	r.drawWhere(env, p, card)
	if got := drawnText(p); !strings.Contains(got, "PRODUCTION") || !strings.Contains(got, "It reads context shop-prod, not the incident's own.") {
		t.Errorf("drawn: %q", got)
	}
	card.With[0].Value = "shop-test"
	p = &ink.Page{W: 70, Theme: &env.Theme}
	r.drawWhere(env, p, card)
	if got := drawnText(p); strings.Contains(got, "PRODUCTION") || !strings.Contains(got, "shop-test") {
		t.Errorf("drawn: %q", got)
	}
}
