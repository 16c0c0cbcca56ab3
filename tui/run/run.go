package run

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// Screen walks one incident: where it stands, the step in front, what is
// known.
type Screen struct {
	*incident.Case
	Focus  string // id of the step in front
	seen   bool   // a snapshot was taken
	choice int    // of the ask in front, -1 for none: enter alone answers nothing
	find   factFind
	Facts  bool   // the facts take the middle, where there is no room beside it
	Off    int    // the middle is scrolled by so many lines
	folded bool   // something of the middle was drawn shorter than it is
	whole  bool   // nothing is
	pinned [2]int // the rows of the middle that a question can be answered with: from, to
	Move   move

	Round  round    // the reads that stand together in the middle
	onward bool     // enter leads on: the next sheet comes by itself
	asked  []string // the steps on the newest sheet
	led    []string // closed gates at which enter offered another runbook: the next enter goes past them
	then   string   // the read that was named with the words that are being recorded, "" for none
	rounds bool     // enter began one: what a later phase reads begins by itself
	trust  trust    // of the directory of the incident

	Unconfined bool // nothing on this machine keeps a program of a runbook from writing

	Been  []string  // the steps where the person was, the newest first
	After Aftermath // what is known after the close

	Row, col int   // the cell of a comparison that is picked; row is -1 for none
	follow   bool  // the picked cell moved, and must be seen
	mark     int   // the line that it was drawn in
	Grid     *grid // the comparison that was drawn last
}

// move is what enter does, and how it is announced.
type move struct {
	label ink.Text
	Opt   triage.Option
	reach bool // bring the step to the front, before anything is done there
	sheet bool // all that can be said before something is to be read
	lead  bool // another runbook, before a closed gate is passed
}

// Take shows a newer snapshot. The step in front stays until the person moves
// on, so that what a probe found can be read.
func (r *Screen) Take(s view.Snapshot) {
	if r.seen && s.State.Seq < r.Snap.State.Seq {
		return
	}
	first := !r.seen
	r.Snap, r.seen = s, true
	if _, ok := s.State.Step(r.Focus); !ok || first {
		r.Front("")
		if o, ok := r.Recommended(); ok && o.Step != "" {
			r.Front(o.Step)
		} else if len(r.Steps()) > 0 {
			r.Front(r.Steps()[0].ID)
		}
	}
	r.Decide()
}

// Decide works out the move for the present step and snapshot.
func (r *Screen) Decide() {
	r.Move = move{}
	if t, ok := r.cellLabel(); ok {
		r.Move = move{label: t}
		return
	}
	if r.Closed() {
		r.Move = move{label: "Leave: the incident is closed"}
		return
	}
	st, _ := r.step()
	o, ok := r.Recommended()
	if r.Round.on {
		r.Move = move{label: "Reading; what it found comes here"}
		return
	}
	sampled := st.Kind == triage.WatchStep && st.Attempts > 0 // by itself
	if here, can := r.moveHere(st); can && (!ok || o.Step != st.ID && !sampled) {
		r.Move = here
		return
	}
	switch {
	case !ok && r.Acting():
		r.Move = move{label: ink.Say("Watch the act %s", incident.Short(r.Snap.State.Acting)), Opt: triage.Option{Kind: triage.DoPreview, Step: r.Snap.State.Acting}}
	case !ok && len(r.Reading()) > 0:
		r.Move = move{label: "Reading; what comes next waits for it"}
	case !ok:
	case len(r.sheet()) > 0:
		r.Move = move{label: r.sheetLabel(), Opt: o, sheet: true}
	case len(r.proposed()) > 0:
		r.Move = move{label: r.label(o), Opt: o}
	case o.Step == st.ID && len(r.leads(o)) > 0:
		r.Move = move{label: leadLabel(r.leads(o)), Opt: o, lead: true}
	case o.Step == "" || o.Step == st.ID || o.Kind == triage.DoSettle || o.Kind == triage.DoResolve || o.Kind == triage.DoDrift || o.Kind == triage.DoWaive || o.Kind == triage.DoProbe:
		r.Move = move{label: r.label(o), Opt: o}
	default:
		r.Move = move{label: ink.Say("Next: %s", r.Title(o.Step)), Opt: o, reach: true}
	}
}

// moveHere is what can be done with a step that a person went to although the
// loop would do something else first.
func (r *Screen) moveHere(st triage.Step) (move, bool) {
	kind, ok := incident.Does[st.Kind]
	if !ok || st.Kind == triage.GateStep || st.Status != triage.Pending && st.Status != triage.Stale {
		return move{}, false
	}
	o, ok := r.Option(kind, st.ID)
	if !ok || len(r.Barred(st.ID)) > 0 {
		return move{}, false
	}
	return move{label: r.label(o), Opt: o}, true
}

// sheetLabel names what stands on the sheet.
func (r *Screen) sheetLabel() ink.Text {
	on := r.sheet()
	if len(on) == 1 {
		return ink.Say("Say this: %s", r.Title(on[0].Step))
	}
	var all []string
	for _, o := range on {
		all = append(all, string(incident.Short(o.Step)))
	}
	return ink.Say("Say these %d: %s", len(all), strings.Join(all, ", "))
}

func (r *Screen) label(o triage.Option) ink.Text {
	name := r.Title(o.Step)
	st, _ := r.Snap.State.Step(o.Step)
	switch o.Kind {
	case triage.DoProbe:
		if st.Kind == triage.WatchStep {
			if st.Attempts > 0 && st.Streak < Greens(st) {
				return "Sample now; otherwise the next sample is automatic"
			}
			return ink.Say("Take the first sample: %s", name)
		}
		if st.Heavy && r.Unconfined && hasGiven(r.Snap.Cards[o.Step], "argv") {
			return ink.Say("Run a program, which nothing here confines: %s", name)
		}
		if st.Heavy {
			return ink.Say("Run a program, which only reads: %s", name)
		}
		if all := r.readyIn(st.Phase); unread(st) && len(all) > 1 {
			return ink.Say("Read all %d: %s", len(all), shorts(all))
		}
		return ink.Say("Read: %s", name)
	case triage.DoAnswer:
		if v := r.agrees(); v != "" && r.choice < 0 {
			return ink.Say("Agree: %s, as the facts say", v)
		}
		return "Answer: press a number, or u for \"I do not know\""
	case triage.DoManual:
		return ink.Say("Record that it was done: %s", name)
	case triage.DoConclude:
		if v := r.Proposed(o); v != "" && v != triage.Unknown {
			then := ink.Text("") // before what may be cut
			if step := r.follows(); step != "" {
				then = ink.Say(", then run a program (%s)", incident.Short(step))
			}
			if all := r.together(); len(all) > 1 && all[0].Step == o.Step {
				return ink.Say("Accept these %d%s: %s", len(all), then, decided(all))
			}
			return ink.Say("Accept%s: %s = %s", then, o.Topic, v)
		}
		return ink.Say("Decide: %s", o.Topic)
	case triage.DoPreview:
		return ink.Say("Show the gate: %s", name)
	case triage.DoSkip:
		return ink.Say("Go past the closed gate, with a reason: %s", name)
	case triage.DoConfirm:
		return ink.Say("Back to the armed gate: %s", name)
	case triage.DoApprove:
		return ink.Say("Back to the gate that waits for a second person: %s", name)
	case triage.DoWaive:
		if o.Value == "0" {
			return ink.Say("Overrule what it found, with a name and a reason: %s", name)
		}
		return ink.Say("Waive, with a name and a reason: %s", name)
	case triage.DoResolve:
		return ink.Say("Before the close: what became of what %s found", incident.Short(o.Step))
	case triage.DoDrift:
		return "Before the record is written: say what is not known of the difference"
	case triage.DoHand:
		return "Record a repair that was made by hand"
	case triage.DoSettle:
		return ink.Say("Settle a debt: %s", r.Debt(o.Subject).Text)
	case triage.DoClose:
		if r.Snap.State.Kind == triage.Readiness {
			return ink.Say("Close the review as %s", o.Value)
		}
		return ink.Say("Close the incident as %s", o.Value)
	case triage.DoPhase:
		return ink.Say("Continue to %s", o.Value)
	case triage.DoPlan:
		if o.Step != "" {
			verb := "Give %s: %s waits for it"
			if wants := r.lacks(o.Step); len(wants) > 0 && slices.Equal(wants, r.refused(o.Step)) {
				verb = "Change %s, which it refuses: %s"
			}
			return ink.Say(verb, strings.Join(r.lacks(o.Step), " or "), name)
		}
		return "Switch to another runbook"
	}
	return ink.Shown(string(o.Kind))
}

// perform does the move.
func (r *Screen) perform(env *screen.Env) tea.Cmd {
	if r.Closed() {
		return env.Ask(screen.Leave{})
	}
	o := r.Move.Opt
	if o.Kind == "" {
		return r.ReadOn(env) // a round that waits for nothing goes on
	}
	r.onward = true
	if r.Move.sheet {
		r.openSheet(env)
		return nil
	}
	if r.Move.lead {
		r.led = append(r.led, o.Step)
		env.Sheet = sheets.PlanForm(env)
		r.Decide()
		return nil
	}
	if r.Move.reach || o.Kind == triage.DoProbe {
		r.Front(o.Step)
		defer r.Decide()
		if r.Move.reach && o.Kind != triage.DoPreview && o.Kind != triage.DoManual {
			return nil
		}
	}
	return r.act(env, o)
}

// act turns an option into its intent, or into the sheet that asks for the
// words which the intent needs.
func (r *Screen) act(env *screen.Env, o triage.Option) tea.Cmd {
	switch o.Kind {
	case triage.DoProbe:
		if st, _ := r.Snap.State.Step(o.Step); unread(st) && !st.Heavy && len(r.Ready()) > 1 {
			return r.readRound(env)
		}
		return r.probe(env, o.Step)
	case triage.DoAnswer:
		if r.agrees() != "" && r.choice < 0 {
			return r.agree(env)
		}
		return r.answerChosen(env)
	case triage.DoManual:
		env.Sheet = r.leading(sheets.ManualForm(env, o.Step))
	case triage.DoSkip:
		env.Sheet = sheets.SkipForm(env, o.Step)
	case triage.DoConclude:
		r.then = r.follows()
		if all := r.together(); len(all) > 1 && all[0].Step == o.Step {
			return r.acceptTogether(env, all)
		}
		if v := r.Proposed(o); v != "" && v != triage.Unknown {
			return env.Send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: v})
		}
		r.then = ""
		env.Sheet = sheets.ConcludeForm(env, o)
	case triage.DoPreview, triage.DoConfirm, triage.DoApprove:
		return env.Ask(screen.OpenGate{Step: o.Step})
	case triage.DoWaive:
		env.Sheet = sheets.WaiveForm(env, o)
	case triage.DoSettle:
		env.Sheet = sheets.SettleForm(env, o.Subject)
	case triage.DoResolve:
		env.Sheet = sheets.ResolveForm(env, o)
	case triage.DoDrift:
		env.Sheet = sheets.DriftForm(env)
	case triage.DoClose:
		env.Sheet = sheets.CloseForm(env)
	case triage.DoPhase:
		return env.Send(triage.Intent{Kind: triage.DoPhase, Phase: triage.Phase(o.Value)})
	case triage.DoPlan:
		if o.Step != "" {
			r.params(env, r.lacks(o.Step)...)
			break
		}
		env.Sheet = sheets.PlanForm(env)
	}
	return nil
}

// lacks are the parameters that a gate waits for, or whose values it refuses.
func (r *Screen) lacks(gate string) []string {
	return r.Snap.State.ParamsWanted(gate, r.Snap.Options)
}

// refused are the parameters whose values a gate refused when it was last tried.
func (r *Screen) refused(gate string) []string {
	if g := r.Snap.State.Gates[gate]; g.WasRefused {
		return g.Refuses
	}
	return nil
}

// ownParam is the parameter of a gate that the fewest other steps use, "" for none: what it does is said there, and a change
// after a refusal is of that one.
func (r *Screen) ownParam(gate triage.Step) (own string) {
	if gate.Kind != triage.GateStep {
		return ""
	}
	plan, fewest := r.Snap.State.Plan(), 0
	for _, name := range gate.PlanStep.Params {
		uses := 0
		for _, p := range plan.Steps {
			if slices.Contains(p.Params, name) {
				uses++
			}
		}
		if own == "" || uses < fewest {
			own, fewest = name, uses
		}
	}
	return own
}
