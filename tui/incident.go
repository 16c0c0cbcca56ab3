package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// changedMsg carries the newest snapshot of an incident.
type changedMsg struct {
	inc  screen.Incident
	snap session.Snapshot
}

// enterIncident makes inc the one that is shown.
func (m *model) enterIncident(inc screen.Incident) {
	m.Crew.Keep(inc)
	m.Incident, m.At = inc, screen.AtRun
	m.gate, m.Sheet = nil, nil
	*m.Case, *m.Seal, m.Tape = incident.Case{}, screen.SealState{}, nil
	m.replay, m.hist = replay{}, history{}
	for _, e := range m.screens {
		e.Hear(m.Env, screen.Another{})
	}
	if tape, ok := inc.(screen.Tape); ok {
		m.thread(tape)
		return
	}
	m.run.Take(inc.Snapshot())
}

// listen waits for one change. The channel coalesces, so a burst of events
// costs one frame.
func (m *model) listen() tea.Cmd {
	inc, ctx := m.Incident, m.Crew.Ctx
	return func() tea.Msg {
		select {
		case _, open := <-inc.Changed():
			if !open {
				return nil
			}
			return changedMsg{inc, inc.Snapshot()}
		case <-ctx.Done():
			return nil
		}
	}
}

func (m *model) changed(msg changedMsg) tea.Cmd {
	if msg.inc != m.Incident {
		return nil // of an incident that was left
	}
	ring := m.notify(m.run.Snap, msg.snap)
	m.run.Take(msg.snap)
	if m.gate != nil {
		m.gate.Take(msg.snap, m.Now)
	}
	return tea.Batch(ring, m.evidence.LiveGrew(m.Env), m.listen(), m.run.Judge(m.Env))
}

func (m *model) did(msg screen.Answer) {
	defer func() { m.noteAnswered(msg) }()
	m.Busy = max(0, m.Busy-1)
	if m.Incident != nil {
		m.run.Take(m.Incident.Snapshot())
		if m.gate != nil {
			m.gate.Take(m.run.Snap, m.Now)
		}
	}
	if m.gate != nil && m.gate.Step == msg.In.Step && m.gate.Answer(msg, m.Now) {
		return
	}
	if msg.Err == nil {
		if m.Notice = confirmation(msg.In); msg.In.Kind == triage.DoSeverity || msg.In.Step == triage.SeverityGate {
			m.Notice = severitySaid(m.Env, msg.In)
		}
		return
	}
	var refused *triage.Refused
	if errors.As(msg.Err, &refused) && len(refused.Refusals) > 0 {
		r := refused.Refusals[0]
		m.Warn("warning", incident.Refusal(r))
		return
	}
	m.Warn("critical", ink.Shown(msg.Err.Error()))
}

// confirmation says what was recorded, for acts of a person that leave no other
// trace on the screen.
func confirmation(in triage.Intent) screen.Notice {
	switch in.Kind {
	case triage.DoNote:
		return screen.Notice{Text: "✓ Note recorded."}
	case triage.DoWaive:
		if in.Law == triage.LawNone {
			return screen.Notice{Text: ink.Say("✓ Overruled, in the name of %s.", in.Person)}
		}
		return screen.Notice{Text: ink.Say("✓ Waiver recorded, in the name of %s.", in.Person)}
	case triage.DoSkip:
		return screen.Notice{Text: ink.Say("✓ Skipped %s; the reason is recorded.", incident.Short(in.Step))}
	case triage.DoSettle:
		return screen.Notice{Text: ink.Say("✓ Debt %s.", in.Debt.How)}
	case triage.DoDisarm:
		return screen.Notice{Text: "✓ Disarmed. Nothing was changed."}
	case triage.DoInterrupt:
		return screen.Notice{Level: "warning", Text: "One interrupt was sent. The act ends by itself; its outcome will be recorded."}
	}
	return screen.Notice{}
}

func (m *model) didAll(msgs screen.Answers) {
	var bad screen.Notice
	for _, msg := range msgs {
		if m.did(msg); msg.Err != nil && bad.Text == "" {
			bad = m.Notice
			bad.Text = incident.Short(msg.In.Step) + ": " + bad.Text
		}
	}
	m.Notice = bad
}
