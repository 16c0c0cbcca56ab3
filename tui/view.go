package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/tui/header"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// View draws what Update left. It computes nothing that could be wrong: what is
// allowed and what comes next was decided with the snapshot.
func (m *model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: m.windowTitle(), ReportFocus: !m.Config.Silent}
	switch {
	case m.W == 0 || m.H == 0:
		return v
	case m.small():
		v.Content = m.finished(m.tooSmall())
		return v
	}
	rows, cur := m.compose()
	v.Content = m.finished(rows)
	if cur != nil && cur.X < m.W && cur.Y < m.H {
		v.Cursor = tea.NewCursor(cur.X, cur.Y)
	}
	return v
}

// finished is a screen in what the terminal can show.
func (m *model) finished(rows []ink.Drawn) string {
	s := ink.Screenful(rows, m.W, m.H)
	if m.Config.ASCII {
		return ink.InASCII(s)
	}
	return s
}

func (m *model) windowTitle() string {
	if m.Incident == nil {
		return "handrail"
	}
	if m.Replaying() {
		word := ink.Text("REPLAY ")
		if m.Tape.Live() {
			word = "FOLLOWING "
		}
		return string("handrail " + word + ink.Clip(ink.Shown(m.run.Snap.State.Incident), 53))
	}
	return string("handrail " + ink.Clip(ink.Shown(m.run.Snap.State.Incident), 60))
}

// tooSmall says so and keeps the two facts that must never be hidden: what the
// program can do now, and how to leave.
func (m *model) tooSmall() []ink.Drawn {
	state := header.Chip(m.Env)
	return []ink.Drawn{
		m.Theme.Strong.On("handrail") + "  " + state,
		m.Theme.Plain.On(ink.Say("This terminal is %d×%d.", m.W, m.H)),
		m.Theme.Plain.On(ink.Say("handrail needs %d×%d.", screen.MinWidth, screen.MinHeight)),
		m.Theme.Muted.On("Make it larger: nothing is"),
		m.Theme.Muted.On("lost, and keys wait until then."),
		m.Theme.Muted.On("ctrl+c leaves."),
	}
}

// compose stacks header, body, notice, move and keys.
func (m *model) compose() ([]ink.Drawn, *tea.Position) {
	if m.Replaying() && m.gate != nil && m.help == nil && m.At == screen.AtRun {
		return m.drawReplayed(), nil
	}
	if m.gate != nil && m.Sheet != nil && m.Sheet.Over && m.Sheet.Under == nil {
		sheet, cur := m.Sheet.Draw(&m.Theme, m.W, 9)
		if cur != nil {
			cur.Y += m.H - len(sheet)
		}
		return m.drawGateBehind(sheet), cur
	}
	if m.gate != nil && !m.Replaying() && m.Sheet == nil && m.leaving == nil && m.help == nil {
		return m.drawGate()
	}
	head, foot := header.Draw(m.Env, m.front().name), m.foot()
	body := m.H - len(head) - len(foot)
	var sheet []ink.Drawn
	var cur *tea.Position
	switch {
	case m.leaving != nil:
		sheet, foot = drawLeaving(m.Env, m.W), nil
	case m.Sheet != nil:
		sheet, cur = m.Sheet.Draw(&m.Theme, m.W, m.Sheet.Most(m.H-len(head)))
		foot = nil
	case m.palette != nil:
		sheet, cur = m.palette.Draw(&m.Theme, m.W, max(8, min(16, m.H-len(head)-3)))
		foot = nil
	}
	if sheet != nil {
		body = m.H - len(head) - len(sheet)
	}
	var rows []ink.Drawn
	if body > 2 { // less shows nothing of it
		rows = m.body(body)
	}
	for len(rows) < body {
		rows = append(rows, "")
	}
	rows = append(append(append(head, rows[:max(0, body)]...), sheet...), foot...)
	if cur != nil {
		cur.Y += m.H - len(sheet)
	}
	return rows, cur
}

func (m *model) body(h int) []ink.Drawn {
	w := m.W - 2*screen.Inset
	var rows []ink.Drawn
	switch {
	case m.help != nil:
		rows = m.help.Draw(m.Env, w, h)
	default:
		m.run.Been = m.been()
		e := m.front()
		if e.bare {
			return e.Draw(m.Env, m.W, h)
		}
		rows = e.Draw(m.Env, w, h)
	}
	for i := range rows {
		rows[i] = ink.Blank(screen.Inset) + rows[i]
	}
	return rows
}

// saidRows are a text above the keys, in three rows at most.
func saidRows(env *screen.Env, lead ink.Drawn, t ink.Text) []ink.Drawn {
	p := ink.Page{W: env.W - 2, Theme: &env.Theme}
	p.Item(lead, env.Theme.Plain, t)
	rows := p.Rows[:min(len(p.Rows), 3)]
	for i := range rows {
		rows[i] = " " + rows[i]
	}
	return rows
}

// foot is the notice, what came from beside the screen, the move and the keys.
func (m *model) foot() []ink.Drawn {
	th := &m.Theme
	out := []ink.Drawn{th.Faint.On(ink.Line("─", m.W))}
	if m.Notice.Text != "" {
		k := th.Level(m.Notice.Level)
		lead := k.Ink.On(k.Symbol) + " "
		if m.Notice.Level == "" {
			lead = ""
		}
		out = append(out, saidRows(m.Env, lead, m.Notice.Text)...)
	}
	if m.Beside != "" {
		out = append(out, saidRows(m.Env, "", m.Beside)...)
	}
	if due := m.run.AnchorLine(m.Env); due != "" && m.help == nil {
		out = append(out, ink.Cut(due, m.W))
	}
	if m.Replaying() && m.At == screen.AtRun && m.help == nil {
		return append(out, m.replayFoot()...)
	}
	hs := m.front().Hints(m.Env)
	if m.help != nil {
		hs = m.help.Hints()
	}
	if hs.Move != "" {
		out = append(out, " "+th.Pick.On("▸ enter")+"  "+th.Strong.On(ink.Clip(hs.Move, m.W-12)))
	}
	return append(out, " "+th.Footer(m.W-2, hs.Keys, hs.Always...))
}

func (m *model) small() bool { return m.W < screen.MinWidth || m.H < screen.MinHeight }
