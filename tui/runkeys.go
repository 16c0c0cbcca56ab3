package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
)

// pressRun routes a key on the run screen.
func (m *model) pressRun(msg tea.KeyPressMsg) tea.Cmd {
	r, k := &m.run, &m.keys
	defer r.decide()
	if r.find.typing {
		m.typeFact(msg)
		return nil
	}
	if cmd, taken := m.pressMatrix(msg); taken {
		return cmd
	}
	if s := msg.String(); len(s) == 1 && s[0] >= '1' && s[0] <= '9' {
		return m.choose(int(s[0] - '1'))
	}
	switch {
	case key.Matches(msg, k.Enter):
		return m.perform()
	case key.Matches(msg, k.Up):
		m.arrow(-1)
	case key.Matches(msg, k.Down):
		m.arrow(1)
	case key.Matches(msg, k.PageDown):
		r.off, r.follow = r.off+max(1, m.h-10), false
	case key.Matches(msg, k.PageUp):
		r.off, r.follow = max(0, r.off-max(1, m.h-10)), false
	case key.Matches(msg, k.Prev):
		r.walk(-1)
	case key.Matches(msg, k.Next):
		r.walk(1)
	case key.Matches(msg, k.Jump):
		m.jump()
	case key.Matches(msg, k.Search):
		m.findFact()
	case key.Matches(msg, k.Esc) && r.facts:
		r.facts, r.find, r.off = false, factFind{}, 0
	case key.Matches(msg, k.Facts):
		r.facts, r.find = !r.facts, factFind{}
		r.off = 0
	case key.Matches(msg, k.Evidence):
		m.at = atEvidence
		m.openEvidence(r.snap)
	case key.Matches(msg, k.Help):
		m.openHelp()
	case key.Matches(msg, k.Leave):
		return m.leave()
	default:
		return m.pressStep(msg)
	}
	return nil
}

// letGo is said to who would add to a bundle that was let go to be sealed.
const letGo ink.Text = "Its bundle was let go to be sealed, so that nothing is added here. Open it again from the list to go on: that stands outside the seal."

// pressStep routes the keys that do something with the step in front or with
// the incident.
func (m *model) pressStep(msg tea.KeyPressMsg) tea.Cmd {
	r, k := &m.run, &m.keys
	if r.closed() && !key.Matches(msg, k.Settle, k.Anchor, k.Status, k.View, k.ReadBefore, k.Report, k.Seal) {
		return nil
	}
	if m.sealing.gone && key.Matches(msg, k.Settle, k.Anchor) {
		m.warn("warning", letGo)
		return nil
	}
	switch {
	case key.Matches(msg, k.HandOver):
		m.handOver()
	case key.Matches(msg, k.Report):
		return m.openReport(atRun)
	case key.Matches(msg, k.Seal):
		return m.openSeal()
	case key.Matches(msg, k.Unknown):
		return m.dontKnow()
	case key.Matches(msg, k.Read):
		return m.read()
	case key.Matches(msg, k.ReadAll):
		return m.readAll()
	case key.Matches(msg, k.CancelAll):
		return m.cancelAll()
	case key.Matches(msg, k.View):
		return m.watching()
	case key.Matches(msg, k.ReadBefore):
		return m.readBefore()
	case key.Matches(msg, k.User):
		m.goUser()
	case key.Matches(msg, k.Skip):
		m.form = m.skipForm(r.focus)
	case key.Matches(msg, k.Waive):
		m.waive()
	case key.Matches(msg, k.Accept):
		if o, ok := r.option(triage.DoConclude, r.focus); ok {
			return m.accept(o)
		}
		m.warn("", "There is nothing to accept here: a accepts a proposed conclusion.")
	case key.Matches(msg, k.Override):
		if o, ok := r.option(triage.DoConclude, r.focus); ok {
			m.form = m.concludeForm(o)
			return nil
		}
		m.warn("", "There is nothing to decide here: o settles a conclusion otherwise than proposed.")
	case key.Matches(msg, k.Gate):
		return m.pickGate()
	case key.Matches(msg, k.Anchor):
		return m.anchor()
	case key.Matches(msg, k.Status):
		return m.statusUpdate()
	case key.Matches(msg, k.Request):
		return m.copyRequest()
	case key.Matches(msg, k.Severity):
		m.form = m.severityForm()
	case key.Matches(msg, k.Settle):
		m.settle()
	case key.Matches(msg, k.Runbook):
		m.form = m.planForm()
	case key.Matches(msg, k.Close):
		m.form = m.closeForm()
	case key.Matches(msg, k.Cancel):
		return m.send(triage.Intent{Kind: triage.DoCancel, Step: r.focus})
	case key.Matches(msg, k.Interrupt):
		m.interrupt()
	}
	return nil
}

// arrow moves through the answers of an ask, and elsewhere through the steps.
func (m *model) arrow(by int) {
	r := &m.run
	if n := len(r.choices()); n > 0 {
		r.choice = min(max(r.choice+by, 0), n-1)
		return
	}
	r.walk(by)
}

// walk goes to the step before or after.
func (r *runScreen) walk(by int) {
	all := r.steps()
	at := slices.IndexFunc(all, func(s triage.Step) bool { return s.ID == r.focus })
	if at += by; at >= 0 && at < len(all) {
		r.front(all[at].ID)
	}
}

// jump goes to the next required thing that is not settled, around the end.
func (m *model) jump() {
	all := m.run.steps()
	at := slices.IndexFunc(all, func(s triage.Step) bool { return s.ID == m.run.focus })
	for i := 1; i <= len(all); i++ {
		st := all[(at+i)%len(all)]
		open := st.Status == triage.Pending || st.Status == triage.Stale || st.Status == triage.CannotTell && st.Required
		if open && (st.Required || st.Kind == triage.AskStep || st.Kind == triage.ConcludeStep || st.Kind == triage.WatchStep) {
			m.run.front(st.ID)
			return
		}
	}
	m.warn("", "Nothing that is required is left open.")
}

// choices are the answers of the ask in front.
func (r *runScreen) choices() []choice {
	st, c := r.step()
	if st.Kind != triage.AskStep || r.closed() {
		return nil
	}
	var out []choice
	for _, a := range c.Answers {
		out = append(out, choice{value: a.Value, help: ink.Shown(a.Help)})
	}
	if out == nil {
		for _, a := range st.Answers {
			out = append(out, choice{value: a, help: ""})
		}
	}
	return slices.DeleteFunc(out, func(c choice) bool { return c.value == triage.Unknown }) // its key is u
}

// choose answers by number: one press, then the words that it needs.
func (m *model) choose(n int) tea.Cmd {
	if n >= len(m.run.choices()) {
		return nil
	}
	m.run.choice = n
	return m.answerChosen()
}

func (m *model) answerChosen() tea.Cmd {
	cs := m.run.choices()
	if m.run.choice < 0 || m.run.choice >= len(cs) {
		m.warn("", "Choose first: a number, ↑ ↓, or u if nobody knows.")
		return nil
	}
	m.form = m.answerForm(m.run.focus, cs[m.run.choice])
	return nil
}

// dontKnow is an answer to every question. It is never taken for a no.
func (m *model) dontKnow() tea.Cmd {
	st, _ := m.run.step()
	switch st.Kind {
	case triage.AskStep:
		return m.send(triage.Intent{Kind: triage.DoAnswer, Step: st.ID, Value: triage.Unknown})
	case triage.ConcludeStep:
		return m.send(triage.Intent{Kind: triage.DoConclude, Step: st.ID, Topic: triage.Topic(st.Uses), Value: triage.Unknown,
			Text: "nobody on the call knows"})
	}
	m.warn("", "There is no question here: u answers one with \"I do not know\".")
	return nil
}

// read runs the probe in front again.
func (m *model) read() tea.Cmd {
	o, ok := m.run.option(triage.DoProbe, m.run.focus)
	switch {
	case !ok:
		m.warn("", "This step reads nothing. Go to a probe with [ or ], then press r.")
		return nil
	case !o.Available():
		m.warn("warning", refusal(o.Refusals[0]))
		return nil
	}
	return m.send(triage.Intent{Kind: triage.DoProbe, Step: o.Step})
}

func (m *model) accept(o triage.Option) tea.Cmd {
	v := m.run.proposed(o)
	if v == "" || v == triage.Unknown {
		m.warn("warning", "The facts propose nothing, so there is nothing to accept. Press o to decide, or u.")
		return nil
	}
	return m.send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: v})
}

func (m *model) waive() {
	for _, o := range m.run.snap.Options {
		if o.Kind == triage.DoWaive && o.Step == m.run.focus && o.Available() {
			m.form = m.waiveForm(o)
			return
		}
	}
	m.warn("", "This step needs no waiver. w sets aside a required capture or a proof that cannot be had.")
}

func (m *model) settle() {
	for _, d := range m.run.snap.State.Debts {
		if d.Settled.How == "" || d.Settled.How == "carried" {
			m.form = m.settleForm(d.ID)
			return
		}
	}
	m.warn("", "Nothing is owed.")
}

func (m *model) interrupt() {
	if !m.run.acting() {
		m.warn("", "No act is running.")
		return
	}
	m.form = m.interruptForm(m.run.snap.State.Acting)
}

// pickGate opens the gate in front, the one the loop would open, or the first
// one that was not used.
func (m *model) pickGate() tea.Cmd {
	r := &m.run
	if st, _ := r.step(); st.Kind == triage.GateStep {
		return m.openGate(st.ID)
	}
	if o, ok := r.recommended(); ok && o.Kind == triage.DoPreview {
		return m.openGate(o.Step)
	}
	for _, st := range r.steps() {
		if st.Kind == triage.GateStep && st.Status != triage.Settled && st.Status != triage.Skipped {
			return m.openGate(st.ID)
		}
	}
	m.warn("", "This runbook has no gate left to open.")
	return nil
}
