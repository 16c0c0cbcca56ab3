package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
)

// press routes a key on the run screen.
func (r *runScreen) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.keys
	defer r.decide()
	if r.find.typing {
		r.typeFact(env, msg)
		return nil
	}
	if cmd, taken := r.pressMatrix(env, msg); taken {
		return cmd
	}
	if s := msg.String(); len(s) == 1 && s[0] >= '1' && s[0] <= '9' {
		return r.choose(env, int(s[0]-'1'))
	}
	switch {
	case key.Matches(msg, k.Enter):
		return r.perform(env)
	case key.Matches(msg, k.Up):
		r.arrow(env, -1)
	case key.Matches(msg, k.Down):
		r.arrow(env, 1)
	case key.Matches(msg, k.PageDown):
		r.off, r.follow = r.off+max(1, env.h-10), false
	case key.Matches(msg, k.PageUp):
		r.off, r.follow = max(0, r.off-max(1, env.h-10)), false
	case key.Matches(msg, k.Prev):
		r.walk(-1)
	case key.Matches(msg, k.Next):
		r.walk(1)
	case key.Matches(msg, k.Jump):
		r.jump(env)
	case key.Matches(msg, k.Search):
		r.findFact(env)
	case key.Matches(msg, k.Esc) && r.facts:
		r.facts, r.find, r.off = false, factFind{}, 0
	case key.Matches(msg, k.Facts):
		r.facts, r.find = !r.facts, factFind{}
		r.off = 0
	case key.Matches(msg, k.Evidence):
		return env.Ask(OpenEvidence{})
	case key.Matches(msg, k.Help):
		return env.Ask(OpenHelp{})
	case key.Matches(msg, k.Leave):
		return env.Ask(Leave{})
	default:
		return r.pressStep(env, msg)
	}
	return nil
}

// letGo is said to who would add to a bundle that was let go to be sealed.
const letGo ink.Text = "Its bundle was let go to be sealed, so that nothing is added here. Open it again from the list to go on: that stands outside the seal."

// pressStep routes the keys that do something with the step in front or with
// the incident.
func (r *runScreen) pressStep(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.keys
	if r.closed() && !key.Matches(msg, k.Settle, k.Anchor, k.Status, k.View, k.ReadBefore, k.Report, k.Seal) {
		return nil
	}
	if env.seal.gone && key.Matches(msg, k.Settle, k.Anchor) {
		env.warn("warning", letGo)
		return nil
	}
	switch {
	case key.Matches(msg, k.HandOver):
		r.handOver(env)
	case key.Matches(msg, k.Report):
		return env.Ask(OpenReport{})
	case key.Matches(msg, k.Seal):
		return env.Ask(OpenSeal{})
	case key.Matches(msg, k.Unknown):
		return r.dontKnow(env)
	case key.Matches(msg, k.Read):
		return r.read(env)
	case key.Matches(msg, k.ReadAll):
		return r.readAll(env)
	case key.Matches(msg, k.CancelAll):
		return r.cancelAll(env)
	case key.Matches(msg, k.View):
		return r.watching(env)
	case key.Matches(msg, k.ReadBefore):
		return r.readBefore(env)
	case key.Matches(msg, k.User):
		r.goUser(env)
	case key.Matches(msg, k.Skip):
		env.form = skipForm(env, r.focus)
	case key.Matches(msg, k.Waive):
		r.waive(env)
	case key.Matches(msg, k.Accept):
		if o, ok := r.option(triage.DoConclude, r.focus); ok {
			return r.accept(env, o)
		}
		env.warn("", "There is nothing to accept here: a accepts a proposed conclusion.")
	case key.Matches(msg, k.Override):
		if o, ok := r.option(triage.DoConclude, r.focus); ok {
			env.form = concludeForm(env, o)
			return nil
		}
		env.warn("", "There is nothing to decide here: o settles a conclusion otherwise than proposed.")
	case key.Matches(msg, k.Gate):
		return r.pickGate(env)
	case key.Matches(msg, k.Anchor):
		return r.anchor(env)
	case key.Matches(msg, k.Status):
		return r.statusUpdate(env)
	case key.Matches(msg, k.Request):
		return env.Ask(CopyRequest{})
	case key.Matches(msg, k.Severity):
		env.form = severityForm(env)
	case key.Matches(msg, k.Settle):
		r.settle(env)
	case key.Matches(msg, k.Runbook):
		env.form = planForm(env)
	case key.Matches(msg, k.Close):
		env.form = closeForm(env)
	case key.Matches(msg, k.Cancel):
		return env.send(triage.Intent{Kind: triage.DoCancel, Step: r.focus})
	case key.Matches(msg, k.Interrupt):
		r.interrupt(env)
	}
	return nil
}

// arrow moves through the answers of an ask, and elsewhere through the steps.
func (r *runScreen) arrow(env *Env, by int) {
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
func (r *runScreen) jump(env *Env) {
	all := r.steps()
	at := slices.IndexFunc(all, func(s triage.Step) bool { return s.ID == r.focus })
	for i := 1; i <= len(all); i++ {
		st := all[(at+i)%len(all)]
		open := st.Status == triage.Pending || st.Status == triage.Stale || st.Status == triage.CannotTell && st.Required
		if open && (st.Required || st.Kind == triage.AskStep || st.Kind == triage.ConcludeStep || st.Kind == triage.WatchStep) {
			r.front(st.ID)
			return
		}
	}
	env.warn("", "Nothing that is required is left open.")
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
func (r *runScreen) choose(env *Env, n int) tea.Cmd {
	if n >= len(r.choices()) {
		return nil
	}
	r.choice = n
	return r.answerChosen(env)
}

func (r *runScreen) answerChosen(env *Env) tea.Cmd {
	cs := r.choices()
	if r.choice < 0 || r.choice >= len(cs) {
		env.warn("", "Choose first: a number, ↑ ↓, or u if nobody knows.")
		return nil
	}
	env.form = answerForm(env, r.focus, cs[r.choice])
	return nil
}

// dontKnow is an answer to every question. It is never taken for a no.
func (r *runScreen) dontKnow(env *Env) tea.Cmd {
	st, _ := r.step()
	switch st.Kind {
	case triage.AskStep:
		return env.send(triage.Intent{Kind: triage.DoAnswer, Step: st.ID, Value: triage.Unknown})
	case triage.ConcludeStep:
		return env.send(triage.Intent{Kind: triage.DoConclude, Step: st.ID, Topic: triage.Topic(st.Uses), Value: triage.Unknown,
			Text: "nobody on the call knows"})
	}
	env.warn("", "There is no question here: u answers one with \"I do not know\".")
	return nil
}

// read runs the probe in front again.
func (r *runScreen) read(env *Env) tea.Cmd {
	o, ok := r.option(triage.DoProbe, r.focus)
	switch {
	case !ok:
		env.warn("", "This step reads nothing. Go to a probe with [ or ], then press r.")
		return nil
	case !o.Available():
		env.warn("warning", refusal(o.Refusals[0]))
		return nil
	}
	return env.send(triage.Intent{Kind: triage.DoProbe, Step: o.Step})
}

func (r *runScreen) accept(env *Env, o triage.Option) tea.Cmd {
	v := r.proposed(o)
	if v == "" || v == triage.Unknown {
		env.warn("warning", "The facts propose nothing, so there is nothing to accept. Press o to decide, or u.")
		return nil
	}
	return env.send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: v})
}

func (r *runScreen) waive(env *Env) {
	for _, o := range r.snap.Options {
		if o.Kind == triage.DoWaive && o.Step == r.focus && o.Available() {
			env.form = waiveForm(env, o)
			return
		}
	}
	env.warn("", "This step needs no waiver. w sets aside a required capture or a proof that cannot be had.")
}

func (r *runScreen) settle(env *Env) {
	for _, d := range r.snap.State.Debts {
		if d.Settled.How == "" || d.Settled.How == "carried" {
			env.form = settleForm(env, d.ID)
			return
		}
	}
	env.warn("", "Nothing is owed.")
}

func (r *runScreen) interrupt(env *Env) {
	if !r.acting() {
		env.warn("", "No act is running.")
		return
	}
	env.form = interruptForm(env, r.snap.State.Acting)
}

// pickGate opens the gate in front, the one the loop would open, or the first
// one that was not used.
func (r *runScreen) pickGate(env *Env) tea.Cmd {
	if st, _ := r.step(); st.Kind == triage.GateStep {
		return env.Ask(OpenGate{Step: st.ID})
	}
	if o, ok := r.recommended(); ok && o.Kind == triage.DoPreview {
		return env.Ask(OpenGate{Step: o.Step})
	}
	for _, st := range r.steps() {
		if st.Kind == triage.GateStep && st.Status != triage.Settled && st.Status != triage.Skipped {
			return env.Ask(OpenGate{Step: st.ID})
		}
	}
	env.warn("", "This runbook has no gate left to open.")
	return nil
}
