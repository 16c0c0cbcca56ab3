package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/run"
	"handrail/tui/screen"
)

// changedMsg carries the newest snapshot of an incident.
type changedMsg struct {
	inc  screen.Incident
	snap view.Snapshot
}

// enterIncident makes inc the one that is shown.
func (m *model) enterIncident(inc screen.Incident) {
	m.Tasks.Keep(inc)
	m.Incident, m.At = inc, screen.AtRun
	m.gate, m.Sheet = nil, nil
	*m.Case, *m.Seal, m.Tape = incident.Case{}, screen.SealState{}, nil
	m.replay, m.hist = playback{}, history{}
	for _, e := range m.screens {
		e.Hear(m.Env, screen.Another{})
	}
	if tape, ok := inc.(screen.Tape); ok {
		m.thread(tape)
		return
	}
	m.run.Take(inc.Snapshot())
	if s := m.run.Snap.State; s.Drill == "" && s.Outcome == "" && m.Config.Lacks != "" {
		m.Warn("warning", ink.Shown(m.Config.Lacks))
	}
	if m.run.Untouched() {
		run.Tell(m.Env) // the first screen of a drill
	}
}

// listen waits for one change. The channel coalesces, so a burst of events
// costs one frame.
func (m *model) listen() tea.Cmd {
	inc, ctx := m.Incident, m.Tasks.Ctx
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
	return tea.Batch(ring, m.evidence.LiveGrew(m.Env), m.listen(), m.run.Judge(m.Env), m.run.ReadOn(m.Env))
}

func (m *model) did(msg screen.Answer) {
	defer func() {
		if m.gate != nil && msg.In.Kind == triage.DoNote {
			m.gate.Noted = m.Notice // a note says beside the gate whether it was recorded
		}
	}()
	m.Landed(msg.In)
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
		if m.At == screen.AtRun {
			m.run.Said(m.Env, msg.In)
		}
		if m.Notice = m.confirmation(msg.In); msg.In.Kind == triage.DoSeverity || msg.In.Step == triage.SeverityGate {
			m.Notice = severitySaid(m.Env, msg.In)
		}
		return
	}
	var refused *triage.Refused
	if errors.As(msg.Err, &refused) && len(refused.Refusals) > 0 {
		r := refused.Refusals[0]
		m.refused(msg.From, "warning", m.Case.Refusal(msg.In.Step, r))
		return
	}
	m.refused(msg.From, "critical", ink.Shown(msg.Err.Error()))
}

// refused says why an intent was not taken, on the sheet that it came from where
// nothing else is in front by now.
func (m *model) refused(from *form.Form, level string, why ink.Text) {
	if from == nil || m.Sheet != nil || m.Incident == nil {
		m.Warn(level, why)
		return
	}
	from.Refuse(why)
	m.Sheet = from
}

// confirmation says what was recorded, for acts of a person that leave no other
// trace on the screen.
func (m *model) confirmation(in triage.Intent) screen.Notice {
	switch in.Kind {
	case triage.DoNote:
		return screen.Notice{Text: "✓ Note recorded."}
	case triage.DoWaive:
		if in.Law == triage.LawNone {
			return screen.Notice{Text: ink.Say("✓ Overruled by %s.", in.Person)}
		}
		return screen.Notice{Text: ink.Say("✓ Waiver by %s recorded.", in.Person)}
	case triage.DoManual:
		return screen.Notice{Text: given(m.run.Snap.State, in.Step)}
	case triage.DoSkip:
		return screen.Notice{Text: ink.Say("✓ Skipped %s; the reason is recorded.", incident.Short(in.Step))}
	case triage.DoResolve:
		return screen.Notice{Text: ink.Say("✓ Answered: %s.", in.Finding.How)}
	case triage.DoDrift:
		return screen.Notice{Text: "✓ Recorded what is known of the difference."}
	case triage.DoHand:
		return screen.Notice{Text: ink.Say("✓ Recorded as done by hand by %s. It is owed until a read shows it.", in.Hand.Person)}
	case triage.DoSettle:
		return screen.Notice{Text: ink.Say("✓ Debt %s.", in.Debt.How)}
	case triage.DoPlan:
		if ps := m.run.Snap.State.Plans; len(ps) > 1 && ps[len(ps)-1].Runbook != ps[len(ps)-2].Runbook {
			return screen.Notice{Text: ink.Say("✓ The runbook is %s now. Facts and answers are kept.", in.Value)}
		}
		return screen.Notice{Text: "✓ Recorded. What stood on another value is stale, and is asked again."}
	case triage.DoPerson:
		return screen.Notice{Text: ink.Say("✓ %s is on the call.", in.Who.Name)}
	case triage.DoDisarm:
		return screen.Notice{Text: "✓ Disarmed. Nothing was changed."}
	case triage.DoInterrupt:
		return screen.Notice{Level: "warning", Text: "One interrupt was sent. The act ends by itself, and its outcome is recorded."}
	}
	return screen.Notice{}
}

// given says which items of evidence a proof gave, and which it did not, "" for a step
// that covers none.
func given(s triage.State, step string) ink.Text {
	st, _ := s.Step(step)
	if len(st.Covers) < 2 {
		return ""
	}
	wanted := s.Wanted(step)
	var has, none, lacks []string
	for _, item := range st.Covers {
		switch i := slices.IndexFunc(st.Gives, func(g triage.Given) bool { return g.Item == item }); {
		case i < 0 && !slices.ContainsFunc(wanted, func(w triage.EvidenceItem) bool { return w.Code == item }):
		case i < 0:
			lacks = append(lacks, item)
		case st.Gives[i].None:
			none = append(none, item)
		default:
			has = append(has, item+" "+st.Gives[i].Value)
		}
	}
	out := ink.Text("✓ Recorded.")
	for _, part := range []struct {
		what string
		list []string
	}{{"It gives", has}, {"There is no", none}, {"It does not name", lacks}} {
		if len(part.list) > 0 {
			out += ink.Say(" %s %s.", part.what, strings.Join(part.list, ", "))
		}
	}
	return out
}

// didAll takes what came back of several intents. A sheet of which some lines were refused
// comes back with these.
func (m *model) didAll(msgs screen.Answers) {
	var bad screen.Notice
	var first screen.Answer
	var sheet *form.Form
	var recorded []string
	for _, msg := range msgs {
		if msg.From != nil && msg.From.Asks(msg.In.Step) {
			sheet, msg.From = msg.From, nil
		}
		m.did(msg)
		switch {
		case msg.Err == nil:
			recorded = append(recorded, msg.In.Step)
		case bad.Text == "":
			first, bad = msg, m.Notice
			bad.Text = incident.Short(msg.In.Step) + ": " + bad.Text
		}
	}
	m.Notice = bad
	if sheet != nil && first.Err != nil && m.Sheet == nil {
		sheet.Drop(recorded...)
		sheet.RefuseAt(first.In.Step, bad.Text)
		m.Sheet, m.Notice = sheet, screen.Notice{}
	}
}

// comes brings by itself what follows on a person's words, where nothing was read between: the
// next sheet, or the preview of the gate that the loop wants next. A note, and who and how bad
// it is, are said beside the walk: they leave what is in front.
func comes(m *model, after triage.Intent) tea.Cmd {
	if read := m.run.Then(m.Env, m.Notice.Level == ""); read != nil {
		return read
	}
	switch after.Kind {
	case triage.DoProbe, triage.DoCancel, triage.DoInterrupt, triage.DoNote, triage.DoPerson, triage.DoSeverity:
		return nil
	}
	if m.At != screen.AtRun || m.gate != nil || m.Sheet != nil || m.leaving != nil || m.help != nil || m.palette != nil || m.Notice.Level != "" {
		return nil
	}
	if m.run.SheetComes(m.Env); m.Sheet != nil {
		return nil
	}
	if gate := m.run.GateComes(m.Env, after); gate != "" {
		m.run.Front(gate)
		return m.preview(triage.Intent{Step: gate, ByItself: true})
	}
	return nil
}
