package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/header"
	"handrail/tui/ink"
	"handrail/tui/overlay"
	"handrail/tui/screen"
	"handrail/tui/sheets"
	"handrail/tui/viewer"
)

// obey does what a screen asked for.
func (m *model) obey(r screen.Request) tea.Cmd {
	switch r := r.(type) {
	case screen.OpenGate:
		return m.openGate(r.Step, r.Look)
	case screen.Preview:
		return m.preview(triage.Intent{Step: r.Step, Text: r.Why})
	case screen.CloseGate:
		done := m.gate != nil && m.gate.Gate.Phase == triage.GateDone && !m.Replaying()
		m.gate = nil
		if done { // its result was read
			m.Notice = screen.Notice{}
			m.run.Onward(m.Env)
			return tea.Batch(m.run.ReadOn(m.Env), m.calm())
		}
		m.run.Decide()
	case screen.GoTo:
		m.gate = nil
		m.run.Front(r.Step)
		m.run.Decide()
	case screen.ShowOutput:
		m.gate = nil
		m.run.Decide()
		return m.run.Watching(m.Env)
	case screen.CopyRequest:
		return m.copyRequest()
	case screen.Open:
		return m.open(r.Screen)
	case screen.OpenEntry:
		return m.evidence.OpenEntry(m.Env, viewer.Position{Entry: r.Seq, Full: r.Full, Direct: r.Direct})
	case screen.OpenOutput:
		return m.evidence.OpenLive(m.Env, r.Of)
	case screen.OpenReport:
		return m.evidence.OpenReport(m.Env, m.At)
	case screen.Match:
		m.At = screen.AtMatch
		return m.match.Add(r.Text, m.Env)
	case screen.TakeApproval:
		return m.pasteBehindGate(r.Text)
	case screen.Start:
		if r.Look && r.Text != "" {
			r.Given = m.home.Known(r.Runbook, r.Given)
		}
		return m.wait.StartWith(m.Env, r)
	case screen.Resume:
		return m.wait.Resume(m.Env, r.ID)
	case screen.Practise:
		return m.wait.Drill(m.Env, r.Drill, r.Variant)
	case screen.Enter:
		m.enterIncident(r.Incident)
		var reads tea.Cmd
		if r.Read {
			reads = m.run.Begin(m.Env)
		}
		return tea.Batch(m.listen(), m.lookAgain(), reads)
	case screen.Quit:
		return m.quit()
	case screen.OpenSeal:
		if m.Replaying() {
			m.Warn("", header.OnlyLooking(m.Env))
			return nil
		}
		return m.sealing.Open(m.Env)
	case screen.OpenHelp:
		m.openHelp()
	case screen.Leave:
		return m.leave()
	}
	return nil
}

// openGate shows the gate and asks for its preview, unless it is armed already,
// its act is under way, or it is only looked at.
func (m *model) openGate(step string, look bool) tea.Cmd {
	m.run.Front(step)
	m.gate = gate.New(m.Env, step)
	if m.gate.Begun() && (look || !repeats(m, step)) {
		return nil
	}
	if look {
		m.gate.Look()
		return nil
	}
	if m.run.Wider(step) {
		m.gate, m.Sheet = nil, sheets.WiderForm(m.Env, step)
		return nil
	}
	return m.preview(triage.Intent{Step: step})
}

// repeats reports whether the loop wants the act of a gate once more: it was undone, and
// what undid it was found. Its earlier result alone would lead nowhere.
func repeats(m *model, step string) bool {
	o, ok := m.run.Recommended()
	return ok && o.Kind == triage.DoPreview && o.Step == step && m.gate.Gate.Phase == triage.GateDone
}

func (m *model) preview(in triage.Intent) tea.Cmd {
	if m.gate == nil {
		m.gate = gate.New(m.Env, in.Step)
	}
	m.gate.Reading = true
	in.Kind = triage.DoPreview
	return m.Send(in)
}

// copyRequest hands what the gate in front asks to the clipboard of the terminal.
func (m *model) copyRequest() tea.Cmd {
	text := request(m.Snap, m.gate != nil)
	if text == "" {
		m.Warn("", "No gate is waiting for a second person.")
		return nil
	}
	done := ink.Say("The request was sent to the terminal's clipboard: paste it to an approver. Or they run: handrail approve %s", m.run.Snap.Bundle)
	if m.gate != nil {
		m.gate.Said = screen.Notice{Level: "info", Text: done}
	} else {
		m.Notice = screen.Notice{Text: done}
	}
	return tea.SetClipboard(text)
}

func (m *model) openHelp() { m.help = &overlay.Help{} }
