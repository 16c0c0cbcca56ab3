package tui

import (
	"handrail/tui/ink"

	tea "charm.land/bubbletea/v2"
)

// View draws what Update left. It computes nothing that could be wrong: what is
// allowed and what comes next was decided with the snapshot.
func (m *model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: m.windowTitle(), ReportFocus: !m.c.Silent}
	switch {
	case m.w == 0 || m.h == 0:
		return v
	case m.small():
		v.Content = m.finished(m.tooSmall())
		return v
	}
	rows, cur := m.compose()
	v.Content = m.finished(rows)
	if cur != nil && cur.X < m.w && cur.Y < m.h {
		v.Cursor = tea.NewCursor(cur.X, cur.Y)
	}
	return v
}

// finished is a screen in what the terminal can show.
func (m *model) finished(rows []ink.Drawn) string {
	s := ink.Screenful(rows, m.w, m.h)
	if m.c.ASCII {
		return ink.InASCII(s)
	}
	return s
}

func (m *model) windowTitle() string {
	if m.inc == nil {
		return "handrail"
	}
	if m.replaying() {
		word := ink.Text("REPLAY ")
		if m.tape.Live() {
			word = "LOOKING ON "
		}
		return string("handrail " + word + ink.Clip(ink.Shown(m.run.snap.State.Incident), 53))
	}
	return string("handrail " + ink.Clip(ink.Shown(m.run.snap.State.Incident), 60))
}

// tooSmall says so and keeps the two facts that must never be hidden: what the
// program can do now, and how to leave.
func (m *model) tooSmall() []ink.Drawn {
	state := chip(m.Env)
	return []ink.Drawn{
		m.th.Strong.On("handrail") + "  " + state,
		m.th.Plain.On(ink.Say("This terminal is %d×%d.", m.w, m.h)),
		m.th.Plain.On(ink.Say("handrail needs %d×%d.", minWidth, minHeight)),
		m.th.Muted.On("Make it larger: nothing is"),
		m.th.Muted.On("lost, and keys wait until then."),
		m.th.Muted.On("ctrl+c leaves."),
	}
}

// compose stacks header, body, notice, move and keys.
func (m *model) compose() ([]ink.Drawn, *tea.Position) {
	if m.replaying() && m.gate != nil && m.help == nil && m.at == atRun {
		return m.drawReplayed(), nil
	}
	if m.gate != nil && m.form != nil && m.form.over && m.form.under == nil {
		sheet, cur := m.form.draw(&m.th, m.w, 9)
		if cur != nil {
			cur.Y += m.h - len(sheet)
		}
		return m.drawGateBehind(sheet), cur
	}
	if m.gate != nil && !m.replaying() && m.form == nil && m.leaving == nil && m.help == nil {
		return m.drawGate()
	}
	head, foot := drawHeader(m.Env, m.front().name), m.foot()
	body := m.h - len(head) - len(foot)
	var sheet []ink.Drawn
	var cur *tea.Position
	switch {
	case m.leaving != nil:
		sheet, foot = drawLeaving(m.Env, m.w), nil
	case m.form != nil:
		sheet, cur = m.form.draw(&m.th, m.w, max(9, m.h-len(head)-4))
		foot = nil
	case m.palette != nil:
		sheet, cur = m.palette.draw(&m.th, m.w, max(8, min(16, m.h-len(head)-3)))
		foot = nil
	}
	if sheet != nil {
		body = m.h - len(head) - len(sheet)
	}
	rows := m.body(body)
	for len(rows) < body {
		rows = append(rows, "")
	}
	rows = append(append(append(head, rows[:max(0, body)]...), sheet...), foot...)
	if cur != nil {
		cur.Y += m.h - len(sheet)
	}
	return rows, cur
}

// inset is the margin of the screens that are not divided into panes.
const inset = 2

func (m *model) body(h int) []ink.Drawn {
	w := m.w - 2*inset
	var rows []ink.Drawn
	switch {
	case m.help != nil:
		rows = m.help.draw(m.Env, w, h)
	default:
		m.run.been = m.been()
		e := m.front()
		if e.bare {
			return e.draw(m.Env, m.w, h)
		}
		rows = e.draw(m.Env, w, h)
	}
	for i := range rows {
		rows[i] = ink.Blank(inset) + rows[i]
	}
	return rows
}

// foot is the notice, the move and the keys.
func (m *model) foot() []ink.Drawn {
	th := &m.th
	out := []ink.Drawn{th.Faint.On(ink.Line("─", m.w))}
	if m.notice.text != "" {
		k := th.Level(m.notice.level)
		lead := k.Ink.On(k.Symbol) + " "
		if m.notice.level == "" {
			lead = ""
		}
		p := ink.Page{W: m.w - 2, Theme: th}
		p.Item(lead, th.Plain, m.notice.text)
		for _, r := range p.Rows[:min(len(p.Rows), 3)] {
			out = append(out, " "+r)
		}
	}
	if due := m.run.anchorLine(m.Env); due != "" && m.help == nil {
		out = append(out, ink.Cut(due, m.w))
	}
	if m.replaying() && m.at == atRun && m.help == nil {
		return append(out, m.replayFoot()...)
	}
	hs := m.front().hints(m.Env)
	if m.help != nil {
		hs = m.help.hints()
	}
	if hs.move != "" {
		out = append(out, " "+th.Pick.On("▸ enter")+"  "+th.Strong.On(ink.Clip(hs.move, m.w-12)))
	}
	return append(out, " "+th.Footer(m.w-2, hs.keys, hs.always...))
}
