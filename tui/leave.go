package tui

import (
	"context"
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// departure asks once more while an act runs: it goes on whatever is answered.
type departure struct{ quit bool }

// abort is ctrl+c: it leaves the program and never an act.
func (m *model) abort() tea.Cmd {
	if !m.Replaying() && m.run.Acting() && m.leaving == nil && m.At != screen.AtWait && m.Incident != nil {
		m.leaving = &departure{quit: true}
		return nil
	}
	return m.quit()
}

// leave is q on the run screen.
func (m *model) leave() tea.Cmd {
	quit := m.Config.Open != nil
	if m.run.Acting() {
		m.leaving = &departure{quit}
		return nil
	}
	return m.depart(quit)
}

func (m *model) depart(quit bool) tea.Cmd {
	m.leaving = nil
	if quit {
		return m.quit()
	}
	inc := m.Incident
	s := m.run.Snap.State
	looked := m.Replaying()
	m.Incident, m.Tape, m.gate, m.Sheet, m.replay = nil, nil, nil, nil, playback{}
	m.At, m.home.Loading = screen.AtHome, true
	if s.Outcome == "" && !looked {
		m.Warn("", ink.Say("%s stays open. Resume it from the list; nothing is lost.", s.Incident))
	}
	return m.Tasks.Start(func(context.Context) tea.Msg { return screen.ReleaseMsg{Err: m.Tasks.Release(inc)} })
}

func (m *model) released(msg screen.ReleaseMsg) tea.Cmd {
	if msg.Err != nil {
		m.Warn("critical", ink.Shown(msg.Err.Error()))
	}
	return tea.Batch(m.home.Load(m.Env), m.home.Ask(m.Env))
}

// quit ends the program, with a word for the terminal that stays behind.
func (m *model) quit() tea.Cmd {
	if m.Incident != nil && !m.Replaying() {
		s := m.run.Snap.State
		if s.Outcome == "" && s.Incident != "" {
			m.bye = append(m.bye, fmt.Sprintf("%s stays open. Continue with: handrail resume %s", ink.Shown(s.Incident), ink.Shown(s.Incident)))
		}
		if m.run.Acting() {
			m.bye = append(m.bye, fmt.Sprintf("The act %s continues; the resume records how it ended.", incident.Short(s.Acting)))
		}
	}
	return m.asked.before(tea.Quit)
}

func (m *model) pressLeaving(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, m.Keys.Yes):
		return m.depart(m.leaving.quit)
	case key.Matches(msg, m.Keys.Stay):
		m.leaving = nil
	}
	return nil
}

func drawLeaving(env *screen.Env, w int) []ink.Drawn {
	p := ink.Page{W: w, Theme: &env.Theme}
	p.Add(env.Theme.Warn.On(ink.Line("─", w)))
	p.Item(env.Theme.Warn.On(" ! "), env.Theme.Strong, ink.Say("%s is acting. Leaving does not stop it: it continues, and the resume records how it ended.", incident.Short(env.Snap.State.Acting)))
	p.Item("   ", env.Theme.Muted, "To stop it, stay and press i: one interrupt, after a confirmation.")
	p.Gap()
	p.Add(" " + env.Theme.Footer(w-2, []ink.Hint{{Key: "enter", Does: "stay"}, {Key: "y", Does: "leave, the act continues"}}))
	return p.Rows
}
