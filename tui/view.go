package tui

import tea "charm.land/bubbletea/v2"

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
func (m *model) finished(rows []drawn) string {
	s := screenful(rows, m.w, m.h)
	if m.c.ASCII {
		return inASCII(s)
	}
	return s
}

func (m *model) windowTitle() string {
	if m.inc == nil {
		return "handrail"
	}
	if m.replaying() {
		word := text("REPLAY ")
		if m.replay.tape.Live() {
			word = "LOOKING ON "
		}
		return string("handrail " + word + clip(shown(m.run.snap.State.Incident), 53))
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
	var sheet []drawn
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

func (m *model) body(h int) []drawn {
	w := m.w - 2*inset
	var rows []drawn
	switch {
	case m.help != nil:
		rows = m.drawHelp(w, h)
	case m.at == atRun:
		return m.drawRun(h)
	case m.at == atEvidence:
		if v := m.evidence.view; v != nil && v.live != nil {
			v.head = m.liveLine(v)
		}
		rows = m.evidence.draw(&m.th, w, h)
	case m.at == atSeal:
		rows = m.sealing.draw(m, w, h)
	case m.at == atSymptoms:
		rows = m.symptoms.draw(m, w, h)
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
	switch {
	case m.help != nil:
	case m.at == atHome, m.at == atRun:
		return hints(m.keys.Help, m.keys.Leave)
	case m.at == atSeal, m.at == atSymptoms && !m.symptoms.typing, m.at == atEvidence && !m.evidence.taking() && (m.evidence.view == nil || !m.evidence.view.asking):
		return hints(m.keys.Help, m.keys.Esc)
	}
	return nil
}

func (m *model) moveAndKeys() (text, []hint) {
	k := m.keys
	switch {
	case m.help != nil:
		return "", []hint{{"↑ ↓", "scroll"}, {"esc", "back"}}
	case m.at == atMatch:
		return m.match.move(), []hint{{"↑ ↓", "choose"}, {"tab", "no error text: pick symptoms"}, {"ctrl+u", "clear"}, {"esc", "home"}}
	case m.at == atSymptoms && m.symptoms.typing:
		return m.symptoms.move(), []hint{{"↑ ↓", "choose"}, {"esc", "clear"}}
	case m.at == atSymptoms:
		return m.symptoms.move(), append([]hint{{"↑ ↓", "choose"}, {"space", "pick"}}, append(hints(k.Search), hint{"tab", "paste an error"})...)
	case m.at == atWait:
		if m.wait.err != "" {
			return "Back", []hint{{"esc", "back"}}
		}
		return "", []hint{{"esc", "give up"}}
	case m.at == atEvidence:
		return m.evidenceKeys()
	case m.at == atSeal:
		return m.sealing.keys(m)
	case m.at == atRun && m.run.find.typing:
		return "Keep these facts", []hint{{"esc", "all facts"}}
	case m.at == atRun:
		return m.run.move.label, m.runHints()
	}
	if m.home.typing {
		return m.home.move(), []hint{{"↑ ↓", "choose"}, {"esc", "clear"}}
	}
	return m.home.move(), append([]hint{{"↑ ↓", "choose"}}, hints(k.Paste, k.Symptoms, k.Search, k.Palette, k.Practise, k.Library)...)
}

// runHints puts the keys of the step in front before the general ones.
func (m *model) runHints() []hint {
	k, r := m.keys, &m.run
	if r.closed() {
		return hints(k.Seal, k.Report, k.Evidence, k.Note, k.Settle, k.Anchor)
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
		if _, acting := r.running(st.ID); acting {
			hs = append(hs, hints(k.View)...)
		}
	case "compare":
		if r.row >= 0 {
			hs = append(hs, hint{"↑ ↓ ← →", "field, source"}, hint{shown(k.Esc.Help().Key), "let go"})
		} else if len(st.Rows) > 0 {
			hs = append(hs, hint{"↑ ↓", "pick a field"})
		}
		if st.Attempts > 0 {
			hs = append(hs, hints(k.Read)...)
		}
	case "probe", "watch":
		if st.Status == "running" {
			hs = append(hs, hints(k.View, k.Cancel)...)
		} else if st.Attempts > 0 {
			hs = append(hs, m.followUps(st)...)
		}
	}
	if n := len(r.ready()); n > 1 {
		hs = append([]hint{{shown(k.ReadAll.Help().Key), say("read all %d", n)}}, hs...)
	}
	if n := len(r.reading()); n > 1 {
		hs = append(hs, hint{shown(k.CancelAll.Help().Key), say("stop all %d", n)})
	}
	if r.acting() {
		hs = append(hs, hints(k.Interrupt)...)
	}
	if o, ok := r.option("waive", st.ID); ok && o.Available() && st.Attempts > 0 && st.Green != "true" && st.Status != "running" {
		hs = append(hs, hints(k.Waive)...)
	}
	hs = append(hs, hints(k.Jump)...)
	if m.w < sideBySide {
		hs = append(hs, hints(k.Facts)...)
	}
	return append(hs, hints(k.Evidence, k.Note)...)
}
