package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
)

// runScreen walks one incident: where it stands, the step in front, what is
// known.
type runScreen struct {
	*view
	focus  string // id of the step in front
	seen   bool   // a snapshot was taken
	choice int    // of the ask in front, -1 for none: enter alone answers nothing
	find   factFind
	facts  bool // the facts take the middle, where there is no room beside it
	off    int  // the middle is scrolled by so many lines
	move   move

	been  []string  // the steps where the person was, the newest first
	after aftermath // what is known after the close

	row, col int   // the cell of a comparison that is picked; row is -1 for none
	follow   bool  // the picked cell moved, and must be seen
	mark     int   // the line that it was drawn in
	grid     *grid // the comparison that was drawn last
}

// move is what enter does, and how it is announced.
type move struct {
	label ink.Text
	opt   triage.Option
	reach bool // bring the step to the front, before anything is done there
}

// take shows a newer snapshot. The step in front stays until the person moves
// on, so that what a probe found can be read.
func (r *runScreen) take(s session.Snapshot) {
	if r.seen && s.State.Seq < r.snap.State.Seq {
		return
	}
	first := !r.seen
	r.snap, r.seen = s, true
	if _, ok := s.State.Step(r.focus); !ok || first {
		r.front("")
		if o, ok := r.recommended(); ok && o.Step != "" {
			r.front(o.Step)
		} else if len(r.steps()) > 0 {
			r.front(r.steps()[0].ID)
		}
	}
	r.decide()
}

// front brings a step to the front.
func (r *runScreen) front(id string) {
	if id != r.focus {
		r.focus, r.choice, r.off, r.facts, r.row = id, -1, 0, false, -1
	}
}

func (r *runScreen) step() (triage.Step, session.Card) {
	st, _ := r.snap.State.Step(r.focus)
	return st, r.snap.Cards[r.focus]
}

// decide works out the move for the present step and snapshot.
func (r *runScreen) decide() {
	r.move = move{}
	if t, ok := r.cellLabel(); ok {
		r.move = move{label: t}
		return
	}
	if r.closed() {
		r.move = move{label: "Leave: the incident is closed"}
		return
	}
	st, _ := r.step()
	o, ok := r.recommended()
	if here, can := r.moveHere(st); can && (!ok || o.Step != st.ID) {
		r.move = here
		return
	}
	switch {
	case !ok && r.acting():
		r.move = move{label: ink.Say("Watch the act %s", short(r.snap.State.Acting)), opt: triage.Option{Kind: triage.DoPreview, Step: r.snap.State.Acting}}
	case !ok:
	case o.Step == "" || o.Step == st.ID || o.Kind == triage.DoSettle || o.Kind == triage.DoWaive || o.Kind == triage.DoProbe:
		r.move = move{label: r.label(o), opt: o}
	default:
		r.move = move{label: ink.Say("Go on to: %s", r.title(o.Step)), opt: o, reach: true}
	}
}

// moveHere is what can be done with a step that a person went to although the
// loop would do something else first.
func (r *runScreen) moveHere(st triage.Step) (move, bool) {
	kind, ok := does[st.Kind]
	if !ok || st.Kind == triage.GateStep || st.Status != triage.Pending && st.Status != triage.Stale {
		return move{}, false
	}
	o, ok := r.option(kind, st.ID)
	if !ok || len(r.barred(st.ID)) > 0 {
		return move{}, false
	}
	return move{label: r.label(o), opt: o}, true
}

func (r *runScreen) label(o triage.Option) ink.Text {
	name := r.title(o.Step)
	st, _ := r.snap.State.Step(o.Step)
	switch o.Kind {
	case triage.DoProbe:
		if st.Kind == triage.WatchStep {
			if st.Attempts > 0 && st.Streak < greens(st) {
				return "Sample now; otherwise the next one comes by itself"
			}
			return ink.Say("Take the first sample: %s", name)
		}
		if st.Heavy {
			return ink.Say("Run a program, which only reads: %s", name)
		}
		return ink.Say("Read: %s", name)
	case triage.DoAnswer:
		return "Answer: press a number, or u for \"I do not know\""
	case triage.DoManual:
		return ink.Say("Record that it was done: %s", name)
	case triage.DoConclude:
		if v := r.proposed(o); v != "" && v != triage.Unknown {
			return ink.Say("Accept: %s = %s", o.Topic, v)
		}
		return ink.Say("Decide: %s", o.Topic)
	case triage.DoPreview:
		return ink.Say("Look at the gate: %s", name)
	case triage.DoConfirm:
		return ink.Say("Back to the armed gate: %s", name)
	case triage.DoApprove:
		return ink.Say("Back to the gate that waits for a second person: %s", name)
	case triage.DoWaive:
		if o.Value == "0" {
			return ink.Say("Overrule what it found, with a name and a reason: %s", name)
		}
		return ink.Say("Waive, with a name and a reason: %s", name)
	case triage.DoSettle:
		return ink.Say("Settle a debt: %s", r.debt(o.Subject).Text)
	case triage.DoClose:
		return ink.Say("Close the incident as %s", o.Value)
	case triage.DoPhase:
		return ink.Say("Go on to %s", o.Value)
	case triage.DoPlan:
		return "Go on with another runbook"
	}
	return ink.Shown(string(o.Kind))
}

// perform does the move.
func (r *runScreen) perform(env *Env) tea.Cmd {
	if r.closed() {
		return env.Ask(Leave{})
	}
	o := r.move.opt
	if o.Kind == "" {
		return nil
	}
	if r.move.reach || o.Kind == triage.DoProbe {
		r.front(o.Step)
		defer r.decide()
		if r.move.reach && o.Kind != triage.DoPreview {
			return nil
		}
	}
	return r.act(env, o)
}

// act turns an option into its intent, or into the sheet that asks for the
// words which the intent needs.
func (r *runScreen) act(env *Env, o triage.Option) tea.Cmd {
	switch o.Kind {
	case triage.DoProbe:
		return env.send(triage.Intent{Kind: triage.DoProbe, Step: o.Step})
	case triage.DoAnswer:
		return r.answerChosen(env)
	case triage.DoManual:
		env.form = manualForm(env, o.Step)
	case triage.DoConclude:
		if v := r.proposed(o); v != "" && v != triage.Unknown {
			return r.accept(env, o)
		}
		env.form = concludeForm(env, o)
	case triage.DoPreview, triage.DoConfirm, triage.DoApprove:
		return env.Ask(OpenGate{Step: o.Step})
	case triage.DoWaive:
		env.form = waiveForm(env, o)
	case triage.DoSettle:
		env.form = settleForm(env, o.Subject)
	case triage.DoClose:
		env.form = closeForm(env)
	case triage.DoPhase:
		return env.send(triage.Intent{Kind: triage.DoPhase, Phase: triage.Phase(o.Value)})
	case triage.DoPlan:
		env.form = planForm(env)
	}
	return nil
}
