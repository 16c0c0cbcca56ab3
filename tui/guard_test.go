package tui

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/screen"
)

// brittle is a model that panics where it is told to.
type brittle struct{ at *string }

func (b brittle) fall(at string) {
	if *b.at == at {
		panic("nil map in " + at)
	}
}
func (b brittle) Init() tea.Cmd                       { b.fall("Init"); return nil }
func (b brittle) Update(tea.Msg) (tea.Model, tea.Cmd) { b.fall("Update"); return b, nil }
func (b brittle) View() tea.View                      { b.fall("View"); return tea.NewView("drawn") }

// Bubble Tea prints a panic of the model, which nothing has redacted by then.
func TestPanicsOfTheModelEndTheProgramOnly(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"Init", "Update", "View"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			where := ""
			var fell error
			g := &guard{Model: brittle{&where}, fell: func(err error) { fell = err }}
			if g.Init(); fell != nil || g.View().Content != "drawn" {
				t.Fatal("nothing was wrong yet")
			}
			where = at
			g.Init()
			if m, _ := g.Update(nil); m != g {
				t.Errorf("Update() = %v", m)
			}
			if v := g.View(); v.Content != "drawn" {
				t.Errorf("View() = %q", v.Content)
			}
			if fell == nil || !strings.Contains(fell.Error(), "nil map in "+at) {
				t.Errorf("the program ended by %v", fell)
			}
		})
	}
}

// What panics beside the loop is told without its secrets.
func TestFaultsOfTheCrewAreScrubbed(t *testing.T) {
	t.Parallel()
	c := &screen.Tasks{Ctx: t.Context(), Scrub: func(s string) string { return strings.ReplaceAll(s, "hunter2", "<redacted>") }}
	msg := c.Start(func(context.Context) tea.Msg { panic("dialling with hunter2") })()
	f, ok := msg.(screen.Fault)
	if !ok || strings.Contains(f.What, "hunter2") || !strings.Contains(f.What, "<redacted>") {
		t.Errorf("msg = %+v", msg)
	}
}
