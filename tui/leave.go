package tui

import (
	"context"
	"fmt"
	"handrail/tui/ink"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// leaving asks once more while an act runs: it goes on whatever is answered.
type leaving struct{ quit bool }

// abort is ctrl+c: it leaves the program and never an act.
func (m *model) abort() tea.Cmd {
	if !m.replaying() && m.run.acting() && m.leaving == nil && m.at != atWait && m.inc != nil {
		m.leaving = &leaving{quit: true}
		return nil
	}
	return m.quit()
}

// leave is q on the run screen.
func (m *model) leave() tea.Cmd {
	quit := m.c.Open != nil
	if m.run.acting() {
		m.leaving = &leaving{quit}
		return nil
	}
	return m.depart(quit)
}

func (m *model) depart(quit bool) tea.Cmd {
	m.leaving = nil
	if quit {
		return m.quit()
	}
	inc := m.inc
	s := m.run.snap.State
	looked := m.replaying()
	m.inc, m.tape, m.gate, m.form, m.replay = nil, nil, nil, nil, replay{}
	m.at, m.home.loading = atHome, true
	if s.Outcome == "" && !looked {
		m.warn("", ink.Say("%s stays open. Resume it from the list; nothing is lost.", s.Incident))
	}
	return m.crew.start(func(context.Context) tea.Msg { return releasedMsg{m.crew.release(inc)} })
}

func (m *model) released(msg releasedMsg) tea.Cmd {
	if msg.err != nil {
		m.warn("critical", ink.Shown(msg.err.Error()))
	}
	return tea.Batch(m.home.load(m.Env), m.home.ask(m.Env))
}

// quit ends the program, with a word for the terminal that stays behind.
func (m *model) quit() tea.Cmd {
	if m.inc != nil && !m.replaying() {
		s := m.run.snap.State
		if s.Outcome == "" && s.Incident != "" {
			m.bye = append(m.bye, fmt.Sprintf("%s stays open. Go on with: handrail resume %s", ink.Shown(s.Incident), ink.Shown(s.Incident)))
		}
		if m.run.acting() {
			m.bye = append(m.bye, fmt.Sprintf("The act %s goes on by itself; the resume records how it ended.", short(s.Acting)))
		}
	}
	return tea.Quit
}

func (m *model) pressLeaving(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, m.keys.Yes):
		return m.depart(m.leaving.quit)
	case key.Matches(msg, m.keys.Stay):
		m.leaving = nil
	}
	return nil
}

func drawLeaving(env *Env, w int) []ink.Drawn {
	p := ink.Page{W: w, Theme: &env.th}
	p.Add(env.th.Warn.On(ink.Line("─", w)))
	p.Item(env.th.Warn.On(" ! "), env.th.Strong, ink.Say("%s is acting. Leaving does not stop it: it goes on by itself, and the resume records how it ended.", short(env.snap.State.Acting)))
	p.Item("   ", env.th.Muted, "To stop it, stay and press i: one interrupt, asked for once more.")
	p.Gap()
	p.Add(" " + env.th.Footer(w-2, []ink.Hint{{Key: "enter", Does: "stay"}, {Key: "y", Does: "leave, the act goes on"}}))
	return p.Rows
}
