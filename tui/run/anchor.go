package run

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// anchorer is an incident that records where the line that stands for its
// journal was posted. A [session.Session] is one.
type anchorer interface {
	Anchored(ctx context.Context, line, where string) error
}

// anchoredMsg is the answer to having posted a line.
type anchoredMsg struct{ err error }

// anchor puts the line into the clipboard of the terminal and asks where it was
// posted. The line is the one of this moment, whatever is recorded meanwhile.
func (r *Screen) anchor(env *screen.Env) tea.Cmd {
	line := r.Snap.Anchor.Line
	inc, ok := env.Incident.(anchorer)
	if line == "" || !ok {
		env.Warn("", "This incident has no line to post.")
		return nil
	}
	env.Sheet = &form.Form{Title: "Post this line in the incident channel",
		Intro:  []ink.Text{ink.Shown(line), "It was sent to the terminal's clipboard. Posted where you cannot change it, it proves what the journal holds now."},
		Fields: []form.Field{form.Named("where", "where", "the channel, or a link to the message", true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Tasks.Start(func(ctx context.Context) tea.Msg {
				return anchoredMsg{inc.Anchored(context.WithoutCancel(ctx), line, v["where"])}
			})
		}}
	return tea.SetClipboard(line)
}

func (r *Screen) posted(env *screen.Env, msg anchoredMsg) {
	if msg.err != nil {
		env.Warn("critical", ink.Shown(msg.err.Error()))
		return
	}
	env.Notice = screen.Notice{Text: "✓ Recorded where the line was posted."}
}

// AnchorLine says quietly that the line should be posted, and why; "" while it
// need not be.
func (r *Screen) AnchorLine(env *screen.Env) ink.Drawn {
	a := r.Snap.Anchor
	if env.At != screen.AtRun || env.Replaying() || a.Due == "" || a.Line == "" {
		return ""
	}
	return " " + env.Theme.Key.On("A") + " " + env.Theme.Muted.On(ink.Say("post this line in the channel, since %s: %s", a.Due, a.Line))
}
