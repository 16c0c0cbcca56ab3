package run

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// StatusUpdate hands a short update for the channel to the clipboard of the
// terminal, and shows what it says.
func (r *Screen) StatusUpdate(env *screen.Env) tea.Cmd {
	if env.Config.Status == nil {
		return nil
	}
	update := env.Config.Status(r.Snap.State)
	f := &form.Form{Title: "Status update, sent to the terminal's clipboard"}
	for l := range strings.Lines(strings.TrimSpace(update)) {
		f.Intro = append(f.Intro, ink.Shown(l))
	}
	env.Sheet = f
	return tea.SetClipboard(update)
}
