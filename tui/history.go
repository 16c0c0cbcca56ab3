package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/screen"
	"handrail/tui/viewer"
)

// spot is where a person is in an incident: the step, the pane, the screen. A
// gate and a sheet stand in front of a spot and are none.
type spot struct {
	at    screen.ID
	step  string
	facts bool
	look  viewer.Position // what is open of the evidence
}

// history is where a person was. Going back and forth in it shows things and does
// nothing: evidence cannot be undone.
type history struct {
	back, on []spot
	moving   bool // the key in hand goes through it
}

// remembered is how many spots are kept.
const remembered = 500

func (m *model) spot() spot {
	s := spot{at: m.At, step: m.run.Focus, facts: m.run.Facts}
	if m.At == screen.AtEvidence {
		s.look = m.evidence.Look()
	}
	return s
}

// press gives a key to what is in front, and remembers where the person was.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	inc, was := m.Incident, m.spot()
	defer func() { m.wentFrom(inc, was) }()
	return m.route(msg)
}

// wentFrom remembers where a person was before a key.
func (m *model) wentFrom(inc screen.Incident, was spot) {
	h := &m.hist
	moving := h.moving
	h.moving = false
	switch {
	case m.Incident != inc || m.Incident == nil || m.Replaying():
		*h = history{}
	case moving || m.spot() == was:
	default:
		h.back = append(h.back[max(0, len(h.back)-remembered+1):], was)
		h.on = nil
	}
}

// been are the steps where a person was, the newest first.
func (m *model) been() []string {
	var out []string
	for _, s := range slices.Backward(m.hist.back) {
		if s.step != m.run.Focus && !slices.Contains(out, s.step) {
			out = append(out, s.step)
		}
	}
	return out
}

// goBack goes to where the person was before.
func (m *model) goBack() tea.Cmd {
	h := &m.hist
	h.moving = true
	if len(h.back) == 0 {
		m.Warn("", "This is the start of your history. Going back changes the view, never what was recorded.")
		return nil
	}
	to := h.back[len(h.back)-1]
	h.back, h.on = h.back[:len(h.back)-1], append(h.on, m.spot())
	return m.goSpot(to)
}

// goOn takes a way back back.
func (m *model) goOn() tea.Cmd {
	h := &m.hist
	h.moving = true
	if len(h.on) == 0 {
		m.Warn("", "This is the newest place in your history.")
		return nil
	}
	to := h.on[len(h.on)-1]
	h.on, h.back = h.on[:len(h.on)-1], append(h.back, m.spot())
	return m.goSpot(to)
}

// goSpot shows a spot again. Where a step is gone with its runbook, or does not
// run any more, what is nearest to it is shown.
func (m *model) goSpot(s spot) tea.Cmd {
	m.evidence.CloseArtifact(m.Env)
	m.At = screen.AtRun
	if st, ok := m.run.Snap.State.Step(s.step); ok && !st.Retired {
		m.run.Front(s.step)
	}
	m.run.Facts = s.facts
	m.run.Decide()
	switch {
	case s.at != screen.AtEvidence:
		return nil
	case s.look.Live != "":
		x, ok := m.run.Running(s.look.Live)
		if !ok || x.Log == nil {
			return nil
		}
		return m.evidence.OpenLive(m.Env, x)
	case s.look.Entry > 0:
		return m.evidence.OpenEntry(m.Env, s.look)
	}
	return m.evidence.Open(m.Env)
}
