package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
)

// changedMsg carries the newest snapshot of an incident.
type changedMsg struct {
	inc  Incident
	snap session.Snapshot
}

// enterIncident makes inc the one that is shown.
func (m *model) enterIncident(inc Incident) {
	m.crew.keep(inc)
	m.evidence.closeArtifact(m.Env)
	m.inc, m.at = inc, atRun
	m.gate, m.form = nil, nil
	*m.view, *m.seal, m.tape = view{}, sealState{}, nil
	m.run, m.evidence, m.sealing, m.replay, m.hist = runScreen{view: m.view}, evidenceScreen{}, sealScreen{sealState: m.seal}, replay{}, history{}
	if tape, ok := inc.(Tape); ok {
		m.thread(tape)
		return
	}
	m.run.take(inc.Snapshot())
}

// listen waits for one change. The channel coalesces, so a burst of events
// costs one frame.
func (m *model) listen() tea.Cmd {
	inc, ctx := m.inc, m.crew.ctx
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
	if msg.inc != m.inc {
		return nil // of an incident that was left
	}
	ring := m.notify(m.run.snap, msg.snap)
	m.run.take(msg.snap)
	if m.gate != nil {
		m.gate.take(msg.snap, m.now)
	}
	return tea.Batch(ring, m.evidence.liveGrew(m.Env), m.listen(), m.run.judge(m.Env))
}

func (m *model) did(msg didMsg) {
	defer func() { m.noteAnswered(msg) }()
	m.busy = max(0, m.busy-1)
	if m.inc != nil {
		m.run.take(m.inc.Snapshot())
		if m.gate != nil {
			m.gate.take(m.run.snap, m.now)
		}
	}
	if m.gate != nil && m.gate.step == msg.in.Step && m.gate.answer(msg, m.now) {
		return
	}
	if msg.err == nil {
		m.notice = confirmation(msg.in)
		return
	}
	var refused *triage.Refused
	if errors.As(msg.err, &refused) && len(refused.Refusals) > 0 {
		r := refused.Refusals[0]
		m.warn("warning", refusal(r))
		return
	}
	m.warn("critical", ink.Shown(msg.err.Error()))
}

// confirmation says what was recorded, for acts of a person that leave no other
// trace on the screen.
func confirmation(in triage.Intent) notice {
	switch in.Kind {
	case triage.DoNote:
		return notice{text: "✓ Note recorded."}
	case triage.DoWaive:
		if in.Law == triage.LawNone {
			return notice{text: ink.Say("✓ Overruled, in the name of %s.", in.Person)}
		}
		return notice{text: ink.Say("✓ Waiver recorded, in the name of %s.", in.Person)}
	case triage.DoSeverity:
		return notice{text: ink.Say("✓ Severity is now %s.", in.Severity)}
	case triage.DoSkip:
		return notice{text: ink.Say("✓ Skipped %s; the reason is recorded.", short(in.Step))}
	case triage.DoSettle:
		return notice{text: ink.Say("✓ Debt %s.", in.Debt.How)}
	case triage.DoDisarm:
		return notice{text: "✓ Disarmed. Nothing was changed."}
	case triage.DoInterrupt:
		return notice{level: "warning", text: "One interrupt was sent. The act ends by itself; its outcome will be recorded."}
	}
	return notice{}
}
