package tui

import (
	"context"
	"handrail/tui/ink"

	tea "charm.land/bubbletea/v2"
)

// anchored is an incident that records where the line that stands for its
// journal was posted. A [session.Session] is one.
type anchored interface {
	Anchored(ctx context.Context, line, where string) error
}

// anchoredMsg is the answer to having posted a line.
type anchoredMsg struct{ err error }

// anchor puts the line into the clipboard of the terminal and asks where it was
// posted. The line is the one of this moment, whatever is recorded meanwhile.
func (r *runScreen) anchor(env *Env) tea.Cmd {
	line := r.snap.Anchor.Line
	inc, ok := env.inc.(anchored)
	if line == "" || !ok {
		env.warn("", "This incident has no line to post.")
		return nil
	}
	env.form = &form{title: "Post this line in the channel of the incident",
		intro:  []ink.Text{ink.Shown(line), "It was handed to the clipboard. Posted where you cannot change it, it proves what stood here now."},
		fields: []field{named("where", "where", "the channel, or a link to the message", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.crew.start(func(ctx context.Context) tea.Msg {
				return anchoredMsg{inc.Anchored(context.WithoutCancel(ctx), line, v["where"])}
			})
		}}
	return tea.SetClipboard(line)
}

func (r *runScreen) posted(env *Env, msg anchoredMsg) {
	if msg.err != nil {
		env.warn("critical", ink.Shown(msg.err.Error()))
		return
	}
	env.notice = notice{text: "✓ Recorded where the line was posted."}
}

// anchorLine says quietly that the line should be posted, and why; "" while it
// need not be.
func (r *runScreen) anchorLine(env *Env) ink.Drawn {
	a := r.snap.Anchor
	if env.at != atRun || env.replaying() || a.Due == "" || a.Line == "" {
		return ""
	}
	return " " + env.th.Key.On("A") + " " + env.th.Muted.On(ink.Say("post this line in the channel, since %s: %s", a.Due, a.Line))
}
