package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
)

// spot is where a person is in an incident: the step, the pane, the screen. A
// gate and a sheet stand in front of a spot and are none.
type spot struct {
	at     screenID
	step   string
	facts  bool
	entry  int64 // of the evidence that is open, 0 for the list
	full   bool
	direct bool   // it was opened from its step
	live   string // the step whose output is read while it runs
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
	s := spot{at: m.at, step: m.run.focus, facts: m.run.facts}
	if e := &m.evidence; m.at == atEvidence && e.detail {
		s.full, s.direct = e.full, e.direct
		if e.view != nil && e.view.live != nil {
			s.live = e.view.step
		} else if mo, ok := e.moment(); ok {
			s.entry = mo.Seq
		}
	}
	return s
}

// press gives a key to what is in front, and remembers where the person was.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	inc, was := m.inc, m.spot()
	defer func() { m.wentFrom(inc, was) }()
	return m.route(msg)
}

// wentFrom remembers where a person was before a key.
func (m *model) wentFrom(inc Incident, was spot) {
	h := &m.hist
	moving := h.moving
	h.moving = false
	switch {
	case m.inc != inc || m.inc == nil || m.replaying():
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
		if s.step != m.run.focus && !slices.Contains(out, s.step) {
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
		m.warn("", "This is where you began. What was recorded stays: only where you look can be taken back.")
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
		m.warn("", "There is nothing further on: this is the newest place where you were.")
		return nil
	}
	to := h.on[len(h.on)-1]
	h.on, h.back = h.on[:len(h.on)-1], append(h.back, m.spot())
	return m.goSpot(to)
}

// goSpot shows a spot again. Where a step is gone with its runbook, or does not
// run any more, what is nearest to it is shown.
func (m *model) goSpot(s spot) tea.Cmd {
	m.evidence.closeArtifact(m.Env)
	m.at = atRun
	if st, ok := m.run.snap.State.Step(s.step); ok && !st.Retired {
		m.run.front(s.step)
	}
	m.run.facts = s.facts
	m.run.decide()
	switch {
	case s.at != atEvidence:
		return nil
	case s.live != "":
		x, ok := m.run.running(s.live)
		if !ok || x.Log == nil {
			return nil
		}
		return m.evidence.openLive(m.Env, x)
	case s.entry > 0:
		return m.openEntry(s.entry, s)
	}
	m.at = atEvidence
	m.evidence.open(m.Env, m.run.snap)
	return nil
}

// openEntry shows an entry of the journal, with its raw artifacts.
func (m *model) openEntry(seq int64, how spot) tea.Cmd {
	e := &m.evidence
	e.find, e.kind = editor{}, 0 // what was searched for may hide it
	m.evidence.open(m.Env, m.run.snap)
	i := slices.IndexFunc(e.snap.State.Timeline, func(mo triage.Moment) bool { return mo.Seq == seq })
	if i < 0 {
		return nil
	}
	m.at = atEvidence
	e.at, e.detail, e.blob = i, true, -1
	e.full, e.direct = how.full, how.direct
	return m.evidence.nextBlob(m.Env, 1)
}
