package run

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// Press routes a key on the run screen.
func (r *Screen) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	defer r.Decide()
	if r.Find.typing {
		r.typeFact(msg)
		return nil
	}
	if cmd, taken := r.PressMatrix(env, msg); taken {
		return cmd
	}
	if s := msg.String(); len(s) == 1 && s[0] >= '1' && s[0] <= '9' {
		return r.choose(env, int(s[0]-'1'))
	}
	switch {
	case key.Matches(msg, k.Enter):
		return r.perform(env)
	case key.Matches(msg, k.Up):
		r.arrow(-1)
	case key.Matches(msg, k.Down):
		r.arrow(1)
	case key.Matches(msg, k.PageDown):
		r.Off, r.follow = r.Off+max(1, env.H-10), false
	case key.Matches(msg, k.PageUp):
		r.Off, r.follow = max(0, r.Off-max(1, env.H-10)), false
	case key.Matches(msg, k.Prev):
		r.walk(-1)
	case key.Matches(msg, k.Next):
		r.walk(1)
	case key.Matches(msg, k.Jump):
		r.jump(env)
	case key.Matches(msg, k.Search):
		r.findFact()
	case key.Matches(msg, k.Esc) && r.Facts:
		r.Facts, r.Find, r.Off = false, factFind{}, 0
	case key.Matches(msg, k.Facts):
		r.Facts, r.Find = !r.Facts, factFind{}
		r.Off = 0
	case key.Matches(msg, k.Evidence):
		return env.Ask(screen.Open{Screen: screen.AtEvidence})
	case key.Matches(msg, k.Help):
		return env.Ask(screen.OpenHelp{})
	case key.Matches(msg, k.Leave):
		return env.Ask(screen.Leave{})
	default:
		return r.pressStep(env, msg)
	}
	return nil
}

// LetGo is said to who would add to a bundle that was let go to be sealed.
const LetGo ink.Text = "Its bundle was let go to be sealed, so that nothing is added here. Open it again from the list to go on: that stands outside the seal."

// pressStep routes the keys that do something with the step in front or with
// the incident.
func (r *Screen) pressStep(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	if r.Closed() && !key.Matches(msg, k.Settle, k.Anchor, k.Status, k.View, k.ReadBefore, k.Report, k.Seal) {
		return nil
	}
	if env.Seal.Gone && key.Matches(msg, k.Settle, k.Anchor) {
		env.Warn("warning", LetGo)
		return nil
	}
	switch {
	case key.Matches(msg, k.HandOver):
		r.handOver(env)
	case key.Matches(msg, k.Report):
		return env.Ask(screen.OpenReport{})
	case key.Matches(msg, k.Seal):
		return env.Ask(screen.OpenSeal{})
	case key.Matches(msg, k.Unknown):
		return r.dontKnow(env)
	case key.Matches(msg, k.Read):
		return r.read(env)
	case key.Matches(msg, k.ReadAll):
		return r.readAll(env)
	case key.Matches(msg, k.CancelAll):
		return r.cancelAll(env)
	case key.Matches(msg, k.View):
		return r.Watching(env)
	case key.Matches(msg, k.ReadBefore):
		return r.readBefore(env)
	case key.Matches(msg, k.User):
		r.goUser(env)
	case key.Matches(msg, k.Skip):
		env.Sheet = sheets.SkipForm(env, r.Focus)
	case key.Matches(msg, k.Waive):
		r.waive(env)
	case key.Matches(msg, k.Accept):
		if o, ok := r.Option(triage.DoConclude, r.Focus); ok {
			return r.accept(env, o)
		}
		env.Warn("", "There is nothing to accept here: a accepts a proposed conclusion.")
	case key.Matches(msg, k.Override):
		if o, ok := r.Option(triage.DoConclude, r.Focus); ok {
			env.Sheet = sheets.ConcludeForm(env, o)
			return nil
		}
		env.Warn("", "There is nothing to decide here: o settles a conclusion otherwise than proposed.")
	case key.Matches(msg, k.Gate):
		return r.pickGate(env)
	case key.Matches(msg, k.Anchor):
		return r.anchor(env)
	case key.Matches(msg, k.Status):
		return r.StatusUpdate(env)
	case key.Matches(msg, k.Request):
		return env.Ask(screen.CopyRequest{})
	case key.Matches(msg, k.Severity):
		env.Sheet = sheets.SeverityForm(env)
	case key.Matches(msg, k.Settle):
		r.settle(env)
	case key.Matches(msg, k.Runbook):
		env.Sheet = sheets.PlanForm(env)
	case key.Matches(msg, k.Close):
		env.Sheet = sheets.CloseForm(env)
	case key.Matches(msg, k.Cancel):
		return env.Send(triage.Intent{Kind: triage.DoCancel, Step: r.Focus})
	case key.Matches(msg, k.Interrupt):
		r.interrupt(env)
	}
	return nil
}

// arrow moves through the answers of an ask, and elsewhere through the steps.
func (r *Screen) arrow(by int) {
	if n := len(r.choices()); n > 0 {
		r.choice = min(max(r.choice+by, 0), n-1)
		return
	}
	r.walk(by)
}

// walk goes to the step before or after.
func (r *Screen) walk(by int) {
	all := r.Steps()
	at := slices.IndexFunc(all, func(s triage.Step) bool { return s.ID == r.Focus })
	if at += by; at >= 0 && at < len(all) {
		r.Front(all[at].ID)
	}
}

// jump goes to the next required thing that is not settled, around the end.
func (r *Screen) jump(env *screen.Env) {
	all := r.Steps()
	at := slices.IndexFunc(all, func(s triage.Step) bool { return s.ID == r.Focus })
	for i := 1; i <= len(all); i++ {
		st := all[(at+i)%len(all)]
		open := st.Status == triage.Pending || st.Status == triage.Stale || st.Status == triage.CannotTell && st.Required
		if open && (st.Required || st.Kind == triage.AskStep || st.Kind == triage.ConcludeStep || st.Kind == triage.WatchStep) {
			r.Front(st.ID)
			return
		}
	}
	env.Warn("", "Nothing that is required is left open.")
}

// choices are the answers of the ask in front.
func (r *Screen) choices() []form.Choice {
	st, c := r.Step()
	if st.Kind != triage.AskStep || r.Closed() {
		return nil
	}
	var out []form.Choice
	for _, a := range c.Answers {
		out = append(out, form.Choice{Value: a.Value, Help: ink.Shown(a.Help)})
	}
	if out == nil {
		for _, a := range st.Answers {
			out = append(out, form.Choice{Value: a, Help: ""})
		}
	}
	return slices.DeleteFunc(out, func(c form.Choice) bool { return c.Value == triage.Unknown }) // its key is u
}

// choose answers by number: one press, then the words that it needs.
func (r *Screen) choose(env *screen.Env, n int) tea.Cmd {
	if n >= len(r.choices()) {
		return nil
	}
	r.choice = n
	return r.answerChosen(env)
}

func (r *Screen) answerChosen(env *screen.Env) tea.Cmd {
	cs := r.choices()
	if r.choice < 0 || r.choice >= len(cs) {
		env.Warn("", "Choose first: a number, ↑ ↓, or u if nobody knows.")
		return nil
	}
	env.Sheet = sheets.AnswerForm(env, r.Focus, cs[r.choice])
	return nil
}

// dontKnow is an answer to every question. It is never taken for a no.
func (r *Screen) dontKnow(env *screen.Env) tea.Cmd {
	st, _ := r.Step()
	switch st.Kind {
	case triage.AskStep:
		return env.Send(triage.Intent{Kind: triage.DoAnswer, Step: st.ID, Value: triage.Unknown})
	case triage.ConcludeStep:
		return env.Send(triage.Intent{Kind: triage.DoConclude, Step: st.ID, Topic: triage.Topic(st.Uses), Value: triage.Unknown,
			Text: "nobody on the call knows"})
	}
	env.Warn("", "There is no question here: u answers one with \"I do not know\".")
	return nil
}

// read runs the probe in front again.
func (r *Screen) read(env *screen.Env) tea.Cmd {
	o, ok := r.Option(triage.DoProbe, r.Focus)
	switch {
	case !ok:
		env.Warn("", "This step reads nothing. Go to a probe with [ or ], then press r.")
		return nil
	case !o.Available():
		env.Warn("warning", incident.Refusal(o.Refusals[0]))
		return nil
	}
	return env.Send(triage.Intent{Kind: triage.DoProbe, Step: o.Step})
}

func (r *Screen) accept(env *screen.Env, o triage.Option) tea.Cmd {
	v := r.Proposed(o)
	if v == "" || v == triage.Unknown {
		env.Warn("warning", "The facts propose nothing, so there is nothing to accept. Press o to decide, or u.")
		return nil
	}
	return env.Send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: v})
}

func (r *Screen) waive(env *screen.Env) {
	for _, o := range r.Snap.Options {
		if o.Kind == triage.DoWaive && o.Step == r.Focus && o.Available() {
			env.Sheet = sheets.WaiveForm(env, o)
			return
		}
	}
	env.Warn("", "This step needs no waiver. w sets aside a required capture or a proof that cannot be had.")
}

func (r *Screen) settle(env *screen.Env) {
	for _, d := range r.Snap.State.Debts {
		if d.Settled.How == "" || d.Settled.How == "carried" {
			env.Sheet = sheets.SettleForm(env, d.ID)
			return
		}
	}
	env.Warn("", "Nothing is owed.")
}

func (r *Screen) interrupt(env *screen.Env) {
	if !r.Acting() {
		env.Warn("", "No act is running.")
		return
	}
	env.Sheet = sheets.InterruptForm(env, r.Snap.State.Acting)
}

// pickGate opens the gate in front, the one the loop would open, or the first
// one that was not used.
func (r *Screen) pickGate(env *screen.Env) tea.Cmd {
	if st, _ := r.Step(); st.Kind == triage.GateStep {
		return env.Ask(screen.OpenGate{Step: st.ID})
	}
	if o, ok := r.Recommended(); ok && o.Kind == triage.DoPreview {
		return env.Ask(screen.OpenGate{Step: o.Step})
	}
	for _, st := range r.Steps() {
		if st.Kind == triage.GateStep && st.Status != triage.Settled && st.Status != triage.Skipped {
			return env.Ask(screen.OpenGate{Step: st.ID})
		}
	}
	env.Warn("", "This runbook has no gate left to open.")
	return nil
}
