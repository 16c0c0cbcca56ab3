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
func (m *model) anchor() tea.Cmd {
	line := m.run.snap.Anchor.Line
	inc, ok := m.inc.(anchored)
	if line == "" || !ok {
		m.warn("", "This incident has no line to post.")
		return nil
	}
	m.form = &form{title: "Post this line in the channel of the incident",
		intro:  []ink.Text{ink.Shown(line), "It was handed to the clipboard. Posted where you cannot change it, it proves what stood here now."},
		fields: []field{named("where", "where", "the channel, or a link to the message", true)},
		submit: func(v map[string]string) tea.Cmd {
			return m.crew.start(func(ctx context.Context) tea.Msg {
				return anchoredMsg{inc.Anchored(context.WithoutCancel(ctx), line, v["where"])}
			})
		}}
	return tea.SetClipboard(line)
}

func (m *model) posted(msg anchoredMsg) {
	if msg.err != nil {
		m.warn("critical", ink.Shown(msg.err.Error()))
		return
	}
	m.notice = notice{text: "✓ Recorded where the line was posted."}
}

// anchorLine says quietly that the line should be posted, and why; "" while it
// need not be.
func (m *model) anchorLine() ink.Drawn {
	a := m.run.snap.Anchor
	if m.at != atRun || m.help != nil || m.replaying() || a.Due == "" || a.Line == "" {
		return ""
	}
	return " " + m.th.Key.On("A") + " " + m.th.Muted.On(ink.Say("post this line in the channel, since %s: %s", a.Due, a.Line))
}
