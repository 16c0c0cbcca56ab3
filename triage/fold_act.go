package triage

import "slices"

// Events of an act. Between the two of them nothing else may change the world.

func (f *folder) actStart(b ActStart) error {
	g, err := f.gate(b.Step)
	switch {
	case err != nil:
		return err
	case g.Phase != GateConfirmed:
		return f.refuse("gate %q is not confirmed", b.Step)
	case b.Digest != g.Digest:
		return f.refuse("the act of %q is not the one confirmed", b.Step)
	case f.e.At.After(g.Shown.Until):
		return f.refuse("the confirmation of %q has expired", b.Step)
	}
	i := f.find(b.Step)
	rs := append(gateLaws(&f.s, &f.s.Steps[i]), secondLaws(&f.s, g, f.e.At, f.e.Actor)...)
	if len(rs) > 0 {
		return f.unlawful(rs)
	}
	for _, id := range f.armed() {
		if id != b.Step {
			f.disarm(id, b.Step+" began to act")
		}
	}
	g.Phase, g.Before, g.Kept, g.After, g.Response, g.StartSeq = GateActing, b.Before, b.Undo, nil, "", f.e.Seq
	g.Slot, g.Again, g.AgainSeq = b.Slot, ActAgain{}, 0
	f.dropReread(b.Step)
	f.setGate(g)
	f.s.Acting = b.Step
	st := f.step(i)
	st.Status, st.Started, st.Attempts = Running, f.e.At, st.Attempts+1
	return nil
}

// actEnd ends an act, or says what was found of one whose end was lost.
func (f *folder) actEnd(b ActEnd) error {
	g, ok := f.s.Gates[b.Step]
	switch {
	case !ok || (g.Phase != GateActing && g.Phase != GateUnknown):
		return f.refuse("no act of %q has begun", b.Step)
	case b.Digest != g.Digest:
		return f.refuse("the end of %q is not of the act that began", b.Step)
	}
	ends := map[string]GatePhase{"done": GateDone, "refused": GateRefused, "failed": GateFailed, Unknown: GateUnknown}
	to, ok := ends[b.Outcome]
	if !ok {
		return f.refuse("%q is no outcome of an act", b.Outcome)
	}
	g.Found = g.Phase == GateUnknown
	g.Phase, g.After, g.Response, g.EndSeq = to, b.After, b.Response, f.e.Seq
	f.setGate(g)
	f.owesReread(g)
	f.s.Acting = ""
	st := f.step(f.find(b.Step))
	st.Outcome, st.Summary = b.Outcome, b.Response
	switch to {
	case GateDone:
		f.settled(st, Settled)
	case GateUnknown:
		f.settled(st, CannotTell)
	default:
		f.settled(st, Pending)
	}
	if to != GateRefused {
		f.unprove()
	}
	return nil
}

// unprove ends every streak, and has every question of verify asked anew: a green
// from before an act proves nothing after it.
func (f *folder) unprove() {
	for i := range f.s.Steps {
		st := f.s.Steps[i]
		watched := st.Kind == WatchStep && (st.Streak > 0 || st.Status == Settled)
		said := st.Kind == AskStep && len(st.PlanStep.Green) > 0
		if st.Phase == Verify && (watched || said) {
			*f.step(i) = outdated(st)
		}
	}
}

// debt returns the index of a debt, -1 where there is none.
func (f *folder) debt(id string) int {
	return slices.IndexFunc(f.s.Debts, func(d Debt) bool { return d.ID == id })
}

func (f *folder) debtOpened(b DebtOpened) error {
	switch {
	case blank(b.ID) || f.debt(b.ID) >= 0:
		return f.refuse("debt %q has no name of its own", b.ID)
	case !slices.Contains([]string{"reconcile", "resume", "unfinished"}, b.Kind):
		return f.refuse("%q is no kind of debt", b.Kind)
	case f.find(b.Of) < 0:
		return f.refuse("debt %q is of %q, which no plan has", b.ID, b.Of)
	}
	if !f.own.debts {
		f.s.Debts, f.own.debts = slices.Clone(f.s.Debts), true
	}
	f.s.Debts = append(f.s.Debts, Debt{DebtOpened: b, Seq: f.e.Seq})
	return nil
}

// settle pays, carries or waives a debt. One that is carried may be settled
// again, also after the close.
func (f *folder) settle(b Settle) error {
	i := f.debt(b.Debt)
	if i < 0 {
		return f.refuse("there is no debt %q", b.Debt)
	}
	if how := f.s.Debts[i].Settled.How; how != "" && how != "carried" {
		return f.refuse("debt %q is already %s", b.Debt, how)
	}
	if lacks := settleLacks(b); lacks != "" {
		return f.refuse("settling debt %q needs %s", b.Debt, lacks)
	}
	if !f.own.debts {
		f.s.Debts, f.own.debts = slices.Clone(f.s.Debts), true
	}
	f.s.Debts[i].Settled = b
	return nil
}
