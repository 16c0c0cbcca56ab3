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
	state := m.chip()
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
	head, foot := m.header(), m.foot()
	body := m.h - len(head) - len(foot)
	var sheet []ink.Drawn
	var cur *tea.Position
	switch {
	case m.leaving != nil:
		sheet, foot = m.drawLeaving(m.w), nil
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
	} else if m.at == atMatch && sheet == nil && m.help == nil {
		return rows, nil
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
	case m.at == atRun:
		m.run.been = m.been()
		return m.run.draw(m.Env, h)
	case m.at == atEvidence:
		rows = m.evidence.draw(m.Env, w, h)
	case m.at == atSeal:
		rows = m.sealing.draw(m.Env, w, h)
	case m.at == atSymptoms:
		rows = m.symptoms.draw(m.Env, w, h)
	case m.at == atMatch:
		rows = m.match.draw(m.Env, w, h)
	case m.at == atWait:
		rows = m.wait.draw(m.Env, w, h)
	default:
		rows = m.home.draw(m.Env, w, h)
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
	move, keys := m.moveAndKeys()
	if move != "" {
		out = append(out, " "+th.Pick.On("▸ enter")+"  "+th.Strong.On(ink.Clip(move, m.w-12)))
	}
	return append(out, " "+th.Footer(m.w-2, keys, m.wayOut()...))
}

// wayOut are the keys that always show.
func (m *model) wayOut() []ink.Hint {
	switch {
	case m.help != nil:
	case m.at == atHome, m.at == atRun:
		return hints(m.keys.Help, m.keys.Leave)
	case m.at == atSeal, m.at == atSymptoms && !m.symptoms.typing, m.at == atEvidence && !m.evidence.taking() && (m.evidence.view == nil || !m.evidence.view.asking):
		return hints(m.keys.Help, m.keys.Esc)
	}
	return nil
}

func (m *model) moveAndKeys() (ink.Text, []ink.Hint) {
	k := m.keys
	switch {
	case m.help != nil:
		return "", []ink.Hint{{Key: "↑ ↓", Does: "scroll"}, {Key: "esc", Does: "back"}}
	case m.at == atMatch:
		return m.match.move(), []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "tab", Does: "no error text: pick symptoms"}, {Key: "ctrl+u", Does: "clear"}, {Key: "esc", Does: "home"}}
	case m.at == atSymptoms && m.symptoms.typing:
		return m.symptoms.move(), []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "clear"}}
	case m.at == atSymptoms:
		return m.symptoms.move(), append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "space", Does: "pick"}}, append(hints(k.Search), ink.Hint{Key: "tab", Does: "paste an error"})...)
	case m.at == atWait:
		if m.wait.err != "" {
			return "Back", []ink.Hint{{Key: "esc", Does: "back"}}
		}
		return "", []ink.Hint{{Key: "esc", Does: "give up"}}
	case m.at == atEvidence:
		return m.evidence.hints(m.Env)
	case m.at == atSeal:
		return m.sealing.keys(m.Env)
	case m.at == atRun && m.run.find.typing:
		return "Keep these facts", []ink.Hint{{Key: "esc", Does: "all facts"}}
	case m.at == atRun:
		return m.run.move.label, m.run.hints(m.Env)
	}
	if m.home.typing {
		return m.home.move(), []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "clear"}}
	}
	return m.home.move(), append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}}, hints(k.Paste, k.Symptoms, k.Search, k.Palette, k.Practise, k.Library)...)
}

// hints puts the keys of the step in front before the general ones.
func (r *runScreen) hints(env *Env) []ink.Hint {
	k := env.keys
	if r.closed() {
		return hints(k.Seal, k.Report, k.Evidence, k.Note, k.Settle, k.Anchor)
	}
	st, _ := r.step()
	var hs []ink.Hint
	switch st.Kind {
	case "ask":
		if n := len(r.choices()); n > 0 {
			hs = append(hs, ink.Hint{Key: ink.Say("1-%d", n), Does: "answer"})
		}
		hs = append(hs, hints(k.Unknown)...)
	case "conclude":
		hs = append(hs, hints(k.Accept, k.Override, k.Unknown)...)
	case "gate":
		hs = append(hs, hints(k.Gate)...)
		if _, acting := r.running(st.ID); acting {
			hs = append(hs, hints(k.View)...)
		}
	case "compare":
		if r.row >= 0 {
			hs = append(hs, ink.Hint{Key: "↑ ↓ ← →", Does: "field, source"}, ink.Hint{Key: ink.Shown(k.Esc.Help().Key), Does: "let go"})
		} else if len(st.Rows) > 0 {
			hs = append(hs, ink.Hint{Key: "↑ ↓", Does: "pick a field"})
		}
		if st.Attempts > 0 {
			hs = append(hs, hints(k.Read)...)
		}
	case "probe", "watch":
		if st.Status == "running" {
			hs = append(hs, hints(k.View, k.Cancel)...)
		} else if st.Attempts > 0 {
			hs = append(hs, r.followUps(env, st)...)
		}
	}
	if n := len(r.ready()); n > 1 {
		hs = append([]ink.Hint{{Key: ink.Shown(k.ReadAll.Help().Key), Does: ink.Say("read all %d", n)}}, hs...)
	}
	if n := len(r.reading()); n > 1 {
		hs = append(hs, ink.Hint{Key: ink.Shown(k.CancelAll.Help().Key), Does: ink.Say("stop all %d", n)})
	}
	if r.acting() {
		hs = append(hs, hints(k.Interrupt)...)
	}
	if o, ok := r.option("waive", st.ID); ok && o.Available() && st.Attempts > 0 && st.Green != "true" && st.Status != "running" {
		hs = append(hs, hints(k.Waive)...)
	}
	hs = append(hs, hints(k.Jump)...)
	if env.w < sideBySide {
		hs = append(hs, hints(k.Facts)...)
	}
	return append(hs, hints(k.Evidence, k.Note)...)
}
