package tui

import (
	"handrail/triage"
	"handrail/tui/ink"

	tea "charm.land/bubbletea/v2"
)

// obey does what a screen asked for.
func (m *model) obey(r Request) tea.Cmd {
	switch r := r.(type) {
	case OpenGate:
		return m.openGate(r.Step)
	case Preview:
		return m.preview(r.Step, r.Why)
	case CloseGate:
		m.gate = nil
		m.run.decide()
	case ShowOutput:
		m.gate = nil
		m.run.decide()
		return m.run.watching(m.Env)
	case CopyRequest:
		return m.copyRequest()
	case OpenEvidence:
		m.at = atEvidence
		m.evidence.open(m.Env, m.snap)
	case OpenEntry:
		return m.openEntry(r.Seq, spot{full: r.Full, direct: r.Direct})
	case OpenOutput:
		return m.evidence.openLive(m.Env, r.Of)
	case OpenReport:
		return m.evidence.openReport(m.Env, m.at)
	case Match:
		m.at = atMatch
		return m.match.add(r.Text, m.Env)
	case TakeApproval:
		return m.pasteBehindGate(r.Text)
	case OpenSymptoms:
		return m.symptoms.open(m.Env)
	case Start:
		return m.wait.startWith(m.Env, r.Runbook, r.Given, r.Look)
	case Resume:
		return m.wait.resume(m.Env, r.ID)
	case Practise:
		return m.wait.drill(m.Env, r.Drill, r.Variant)
	case Enter:
		m.enterIncident(r.Incident)
		return tea.Batch(m.listen(), m.lookAgain())
	case Quit:
		return m.quit()
	case OpenSeal:
		if m.replaying() {
			m.warn("", onlyLooking(m.Env))
			return nil
		}
		return m.sealing.open(m.Env)
	case OpenHelp:
		m.openHelp()
	case Leave:
		return m.leave()
	}
	return nil
}

// openGate shows the gate and asks for its preview, unless it is armed already
// or its act is under way.
func (m *model) openGate(step string) tea.Cmd {
	m.run.front(step)
	m.gate = &gateModal{step: step, quiet: m.now.Add(grace)}
	m.gate.take(m.run.snap, m.now)
	switch m.gate.gate.Phase {
	case triage.GateArmed, triage.GateConfirmed, triage.GateActing, triage.GateDone:
		if m.gate.has {
			return nil
		}
	}
	if m.run.wider(step) {
		m.gate, m.form = nil, widerForm(m.Env, step)
		return nil
	}
	return m.preview(step, "")
}

func (m *model) preview(step, why string) tea.Cmd {
	if m.gate == nil {
		m.gate = &gateModal{step: step, quiet: m.now.Add(grace)}
		m.gate.take(m.run.snap, m.now)
	}
	m.gate.reading = true
	return m.send(triage.Intent{Kind: triage.DoPreview, Step: step, Text: why})
}

// copyRequest hands what the gate in front asks to the clipboard of the terminal.
func (m *model) copyRequest() tea.Cmd {
	g := m.run.snap.Gate
	if g == nil || g.Second == nil || g.Second.Request == "" {
		m.warn("", "No gate waits for a second person.")
		return nil
	}
	done := ink.Say("The request was handed to the clipboard: send it to somebody who may. Or let them run: handrail approve %s", m.run.snap.Bundle)
	if m.gate != nil {
		m.gate.said = notice{level: "info", text: done}
	} else {
		m.notice = notice{text: done}
	}
	return tea.SetClipboard(g.Second.Request)
}

func (m *model) openHelp() { m.help = &helpPage{} }
