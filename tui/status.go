package tui

import (
	"handrail/tui/ink"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// statusUpdate hands a short update for the channel to the clipboard of the
// terminal, and shows what it says.
func (r *runScreen) statusUpdate(env *Env) tea.Cmd {
	if env.c.Status == nil {
		return nil
	}
	update := env.c.Status(r.snap.State)
	f := &form{title: "Status update, handed to the clipboard"}
	for l := range strings.Lines(strings.TrimSpace(update)) {
		f.intro = append(f.intro, ink.Shown(l))
	}
	env.form = f
	return tea.SetClipboard(update)
}
