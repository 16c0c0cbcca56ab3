package tui

import tea "charm.land/bubbletea/v2"

// View draws what Update left. It computes nothing that could be wrong: what is
// allowed and what comes next was decided with the snapshot.
func (m *model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: m.windowTitle()}
	switch {
	case m.w == 0 || m.h == 0:
		return v
	case m.small():
		v.Content = screenful(m.tooSmall(), m.w, m.h)
		return v
	}
	rows, cur := m.compose()
	v.Content = screenful(rows, m.w, m.h)
	if cur != nil && cur.X < m.w && cur.Y < m.h {
		v.Cursor = tea.NewCursor(cur.X, cur.Y)
	}
	return v
}

func (m *model) windowTitle() string {
	if m.inc == nil {
		return "handrail"
	}
	if m.replaying() {
		return string("handrail REPLAY " + clip(shown(m.run.snap.State.Incident), 53))
	}
	return string("handrail " + clip(shown(m.run.snap.State.Incident), 60))
}

// tooSmall says so and keeps the two facts that must never be hidden: what the
// program can do now, and how to leave.
func (m *model) tooSmall() []drawn {
	state := m.chip()
	return []drawn{
		m.th.strong.on("handrail") + "  " + state,
		m.th.plain.on(say("This terminal is %d×%d.", m.w, m.h)),
		m.th.plain.on(say("handrail needs %d×%d.", minWidth, minHeight)),
		m.th.muted.on("Make it larger: nothing is"),
		m.th.muted.on("lost, and keys wait until then."),
		m.th.muted.on("ctrl+c leaves."),
	}
}

// compose stacks header, body, notice, move and keys.
func (m *model) compose() ([]drawn, *tea.Position) {
	if m.replaying() && m.gate != nil && m.help == nil && m.at == atRun {
		return m.drawReplayed(), nil
	}
	if m.gate != nil && !m.replaying() && m.form == nil && m.leaving == nil && m.help == nil {
		return m.drawGate()
	}
	head, foot := m.header(), m.foot()
	body := m.h - len(head) - len(foot)
	var sheet []drawn
	var cur *tea.Position
	switch {
	case m.leaving != nil:
		sheet, foot = m.drawLeaving(m.w), nil
	case m.form != nil:
		sheet, cur = m.form.draw(&m.th, m.w, max(9, m.h-len(head)-4))
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

func (m *model) body(h int) []drawn {
	w := m.w - 2*inset
	var rows []drawn
	switch {
	case m.help != nil:
		rows = m.drawHelp(w, h)
	case m.at == atRun:
		return m.drawRun(h)
	case m.at == atEvidence:
		rows = m.evidence.draw(&m.th, w, h)
	case m.at == atMatch:
		rows = m.match.draw(m, w, h)
	case m.at == atWait:
		rows = m.wait.draw(m, w, h)
	default:
		rows = m.home.draw(m, w, h)
	}
	for i := range rows {
		rows[i] = blank(inset) + rows[i]
	}
	return rows
}

// foot is the notice, the move and the keys.
func (m *model) foot() []drawn {
	th := &m.th
	out := []drawn{th.faint.on(line("─", m.w))}
	if m.notice.text != "" {
		k := th.level(m.notice.level)
		lead := k.ink.on(k.symbol) + " "
		if m.notice.level == "" {
			lead = ""
		}
		p := page{w: m.w - 2, th: th}
		p.item(lead, th.plain, m.notice.text)
		for _, r := range p.rows[:min(len(p.rows), 3)] {
			out = append(out, " "+r)
		}
	}
	if due := m.anchorLine(); due != "" {
		out = append(out, cut(due, m.w))
	}
	if m.replaying() && m.at == atRun && m.help == nil {
		return append(out, m.replayFoot()...)
	}
	move, keys := m.moveAndKeys()
	if move != "" {
		out = append(out, " "+th.pick.on("▸ enter")+"  "+th.strong.on(clip(move, m.w-12)))
	}
	return append(out, " "+th.footer(m.w-2, keys, m.wayOut()...))
}

// wayOut are the keys that always show.
func (m *model) wayOut() []hint {
	if m.help == nil && (m.at == atHome || m.at == atRun) {
		return hints(m.keys.Help, m.keys.Leave)
	}
	return nil
}

func (m *model) moveAndKeys() (text, []hint) {
	k := m.keys
	switch {
	case m.help != nil:
		return "", []hint{{"↑ ↓", "scroll"}, {"esc", "back"}}
	case m.at == atMatch:
		return m.match.move(), []hint{{"↑ ↓", "choose"}, {"ctrl+u", "clear"}, {"esc", "home"}}
	case m.at == atWait:
		if m.wait.err != "" {
			return "Back", []hint{{"esc", "back"}}
		}
		return "", []hint{{"esc", "give up"}}
	case m.at == atEvidence:
		return m.evidence.moveAndKeys()
	case m.at == atRun:
		return m.run.move.label, m.runHints()
	}
	return m.home.move(), append([]hint{{"↑ ↓", "choose"}}, hints(k.Paste, k.Practise, k.Library, k.Reload)...)
}

// runHints puts the keys of the step in front before the general ones.
func (m *model) runHints() []hint {
	k, r := m.keys, &m.run
	if r.closed() {
		return hints(k.Evidence, k.Note, k.Settle)
	}
	st, _ := r.step()
	var hs []hint
	switch st.Kind {
	case "ask":
		if n := len(r.choices()); n > 0 {
			hs = append(hs, hint{say("1-%d", n), "answer"})
		}
		hs = append(hs, hints(k.Unknown)...)
	case "conclude":
		hs = append(hs, hints(k.Accept, k.Override, k.Unknown)...)
	case "gate":
		hs = append(hs, hints(k.Gate)...)
	case "probe", "compare", "watch":
		if st.Status == "running" {
			hs = append(hs, hints(k.Cancel)...)
		} else if st.Attempts > 0 {
			hs = append(hs, hints(k.Read)...)
		}
	}
	if r.acting() {
		hs = append(hs, hints(k.Interrupt)...)
	}
	if o, ok := r.option("waive", st.ID); ok && o.Available() && st.Attempts > 0 && st.Green != "true" {
		hs = append(hs, hints(k.Waive)...)
	}
	hs = append(hs, hints(k.Jump)...)
	if m.w < sideBySide {
		hs = append(hs, hints(k.Facts)...)
	}
	return append(hs, hints(k.Evidence, k.Note)...)
}
