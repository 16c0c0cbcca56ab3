package run

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// Press routes a key on the run screen.
func (r *Screen) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	defer r.Decide()
	if r.find.typing {
		r.typeFact(msg)
		return nil
	}
	if env.Recording() && decides(k, msg) {
		return nil // what comes next is only known once that is recorded
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
		r.Facts, r.find, r.Off = false, factFind{}, 0
	case key.Matches(msg, k.Facts):
		r.Facts, r.find = !r.Facts, factFind{}
		r.Off = 0
	case key.Matches(msg, k.Evidence):
		return env.Ask(screen.Open{Screen: screen.AtEvidence})
	case key.Matches(msg, k.Copy):
		return r.Copy(env)
	case key.Matches(msg, k.Help):
		return env.Ask(screen.OpenHelp{})
	case key.Matches(msg, k.Leave):
		return env.Ask(screen.Leave{})
	default:
		return r.pressStep(env, msg)
	}
	return nil
}

// recording stands where the next move does while a person's word is on its way
// into the journal.
const recording ink.Text = "Recording what you said…"

// decides says that a key answers, or opens the sheet that does.
func decides(k *keymap.Map, msg tea.KeyPressMsg) bool {
	s := msg.String()
	return len(s) == 1 && s[0] >= '1' && s[0] <= '9' ||
		key.Matches(msg, k.Enter, k.Unknown, k.Accept, k.Override, k.Skip, k.Waive, k.Settle, k.ByHand, k.Severity, k.Runbook, k.Close)
}

// LetGo is said to who would add to a bundle that was let go to be sealed.
const LetGo ink.Text = "Its bundle was released for sealing, so nothing can be added here. Open it again from the list to continue; later entries are outside the seal."

// pressStep routes the keys that do something with the step in front or with
// the incident.
func (r *Screen) pressStep(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	if r.Closed() && !key.Matches(msg, k.Settle, k.Anchor, k.Status, k.View, k.ReadBefore, k.Report, k.Seal, k.Reopen, k.Story) {
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
	case key.Matches(msg, k.Reopen):
		r.reopen(env)
	case key.Matches(msg, k.Seal):
		return env.Ask(screen.OpenSeal{})
	case key.Matches(msg, k.Story):
		if !Tell(env) {
			env.Warn("", "This is a real incident, and no drill.")
		}
	case key.Matches(msg, k.Unknown):
		r.dontKnow(env)
	case key.Matches(msg, k.Read):
		return r.read(env)
	case key.Matches(msg, k.ReadAll):
		return r.readAll(env)
	case key.Matches(msg, k.CancelAll):
		return r.cancelAll(env)
	case key.Matches(msg, k.View) && r.unfold():
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
			if v, ok := r.acceptable(env, o); ok {
				env.Sheet = sheets.AcceptForm(env, o, v)
			}
			return nil
		}
		env.Warn("", "There is nothing to accept here: a accepts a proposed conclusion.")
	case key.Matches(msg, k.Override):
		if o, ok := r.Option(triage.DoConclude, r.Focus); ok {
			env.Sheet = sheets.ConcludeForm(env, o)
			return nil
		}
		env.Warn("", "There is nothing to decide here: o overrides a proposed conclusion.")
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
	case key.Matches(msg, k.People):
		env.Sheet = sheets.PeopleForm(env)
	case key.Matches(msg, k.Params):
		st, _ := r.step()
		wanted := r.lacks(st.ID)
		if o, ok := r.Recommended(); ok && o.Kind == triage.DoPlan && len(wanted) == 0 {
			wanted = r.lacks(o.Step)
		}
		if own := r.ownParam(st); len(wanted) == 0 && own != "" {
			wanted = []string{own}
		}
		r.params(env, wanted...)
	case key.Matches(msg, k.ByHand):
		r.byHand(env)
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

// arrow moves through the answers of an ask, and elsewhere through the steps, among them past an ask that is not needed here.
func (r *Screen) arrow(by int) {
	if n := len(r.choices()); n > 0 && r.Snap.Cards[r.Focus].Aside == "" {
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
		if open && r.Snap.Cards[st.ID].Aside == "" && (st.Required || st.Kind == triage.AskStep || st.Kind == triage.ConcludeStep || st.Kind == triage.WatchStep) {
			r.Front(st.ID)
			return
		}
	}
	env.Warn("", "No required item is open.")
}

// choices are the answers of the ask in front.
func (r *Screen) choices() []form.Choice {
	st, c := r.step()
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

// choose answers by number: one press, then the words that it needs. On a gate the
// numbers go to what it still needs.
func (r *Screen) choose(env *screen.Env, n int) tea.Cmd {
	if st, _ := r.step(); st.Kind == triage.GateStep {
		o, _ := r.Option(triage.DoPreview, st.ID)
		if met := r.Met(st.ID, o.Refusals); n < len(met) {
			r.Front(met[n])
		}
		return nil
	}
	if n >= len(r.choices()) {
		return nil
	}
	r.choice = n
	return r.answerChosen(env)
}

func (r *Screen) answerChosen(env *screen.Env) tea.Cmd {
	cs := r.choices()
	if rs := r.Barred(r.Focus); len(rs) > 0 {
		env.Warn("warning", r.Refusal(r.Focus, rs[0]))
		return nil
	}
	if r.choice < 0 || r.choice >= len(cs) {
		env.Warn("", "Choose first: a number, ↑ ↓, or u for \"I do not know\".")
		return nil
	}
	r.onward = false // one by one
	f := sheets.AnswerForm(env, r.Focus, cs[r.choice])
	send := f.Submit
	f.Submit = func(v map[string]string) tea.Cmd {
		r.choice = -1 // enter once more chooses nothing
		return send(v)
	}
	env.Sheet = f
	return nil
}

// dontKnow is an answer to every question. It is never taken for a no.
func (r *Screen) dontKnow(env *screen.Env) {
	st, _ := r.step()
	switch {
	case st.Kind != triage.AskStep && st.Kind != triage.ConcludeStep:
		env.Warn("", "There is no question here: u answers one with \"I do not know\".")
	case len(r.Barred(st.ID)) > 0:
		env.Warn("warning", r.Refusal(st.ID, r.Barred(st.ID)[0]))
	default:
		env.Sheet = sheets.UnknownForm(env, st)
	}
}

// read runs the probe in front again.
func (r *Screen) read(env *screen.Env) tea.Cmd {
	o, ok := r.Option(triage.DoProbe, r.Focus)
	switch {
	case !ok:
		env.Warn("", "This step reads nothing. Go to a probe with [ or ], then press r.")
		return nil
	case !o.Available():
		env.Warn("warning", r.Refusal(o.Step, o.Refusals[0]))
		return nil
	}
	return r.probe(env, o.Step)
}

// acceptable is what the facts propose for a conclusion, where there is anything.
func (r *Screen) acceptable(env *screen.Env, o triage.Option) (string, bool) {
	v := r.Proposed(o)
	if v == "" || v == triage.Unknown {
		env.Warn("warning", "The facts propose nothing, so there is nothing to accept. Press o to decide, or u.")
		return "", false
	}
	return v, true
}

func (r *Screen) waive(env *screen.Env) {
	for _, o := range r.Snap.Options {
		if o.Kind == triage.DoWaive && o.Step == r.Focus && o.Available() {
			env.Sheet = sheets.WaiveForm(env, o)
			return
		}
	}
	env.Warn("", "This step needs no waiver. w waives a required capture or a proof that you cannot get.")
}

func (r *Screen) settle(env *screen.Env) {
	for _, d := range r.Snap.State.Debts {
		if d.Settled.How == "" || d.Settled.How == "carried" {
			env.Sheet = sheets.SettleForm(env, d.ID)
			return
		}
	}
	env.Warn("", "There are no open debts.")
}

func (r *Screen) byHand(env *screen.Env) {
	for _, o := range r.Snap.Options {
		switch {
		case o.Kind != triage.DoHand:
		case !o.Available():
			env.Warn("warning", r.Refusal("", o.Refusals[0]))
		default:
			env.Sheet = sheets.HandForm(env, r.Focus)
		}
	}
}

func (r *Screen) interrupt(env *screen.Env) {
	if !r.Acting() {
		env.Warn("", "No act is running.")
		return
	}
	env.Sheet = sheets.InterruptForm(env, r.Snap.State.Acting)
}

// pickGate looks at the gate in front, the one the loop would open, or the first
// one that was not used. A letter arms nothing: enter reads the target.
func (r *Screen) pickGate(env *screen.Env) tea.Cmd {
	if st, _ := r.step(); st.Kind == triage.GateStep {
		return env.Ask(screen.OpenGate{Step: st.ID, Look: true})
	}
	if o, ok := r.Recommended(); ok && o.Kind == triage.DoPreview {
		return env.Ask(screen.OpenGate{Step: o.Step, Look: true})
	}
	for _, st := range r.Steps() {
		if st.Kind == triage.GateStep && st.Status != triage.Settled && st.Status != triage.Skipped {
			return env.Ask(screen.OpenGate{Step: st.ID, Look: true})
		}
	}
	env.Warn("", "This runbook has no gate left to open.")
	return nil
}
