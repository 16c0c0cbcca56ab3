package triage

import (
	"slices"
	"strings"
)

// Events of a gate up to the act (docs/decisions.md, Gates).

// gate returns what is known of a gate of the plan in force.
func (f *folder) gate(id string) (GateState, error) {
	if _, err := f.current(id, GateStep); err != nil {
		return GateState{}, err
	}
	g := f.s.Gates[id]
	g.Step = id
	return g, nil
}

func (f *folder) gateShown(b GateShown) error {
	g, err := f.gate(b.Step)
	if err != nil {
		return err
	}
	st := &f.s.Steps[f.find(b.Step)]
	rs := gateLaws(&f.s, st)
	rs = append(rs, verdictLaws(st, b.Verdicts)...)
	rs = append(rs, wideningLaws(&f.s, st, b.Why)...)
	switch {
	case len(rs) > 0:
		return f.unlawful(rs)
	case b.Class != st.Class:
		return f.refuse("gate %q is of class %s, not %q", b.Step, st.Class, b.Class)
	case b.Digest == "" || blank(b.Phrase):
		return f.refuse("the preview of %q has no digest or no phrase", b.Step)
	case !b.Until.After(f.e.At):
		return f.refuse("the preview of %q has expired before it was shown", b.Step)
	}
	g.Phase, g.Shown, g.Digest, g.ShownSeq = GateArmed, b, b.Digest, f.e.Seq
	g.Why, g.Moved, g.WasRefused = "", nil, false
	// A signature is for one digest; those for another preview end here. Where it
	// counts it is for one showing, since it is over all that was shown.
	g.Approvals = slices.DeleteFunc(slices.Clone(g.Approvals), func(a Approve) bool { return a.Digest != b.Digest || b.Second != nil })
	f.setGate(g)
	return nil
}

func (f *folder) gateAnswered(b GateAnswered) error {
	g, err := f.gate(b.Step)
	switch {
	case err != nil:
		return err
	case g.Phase != GateArmed:
		return f.refuse("gate %q is not armed", b.Step)
	case b.Digest != g.Digest:
		return f.refuse("gate %q was answered for another preview", b.Step)
	case b.Typed != g.Shown.Phrase:
		return f.refuse("the phrase typed at %q is not the one shown", b.Step)
	case f.e.At.After(g.Shown.Until):
		return f.refuse("the preview of %q has expired", b.Step)
	}
	rs := gateLaws(&f.s, &f.s.Steps[f.find(b.Step)])
	rs = append(rs, ownerLaws(&f.s, g)...)
	if rs = append(rs, secondLaws(&f.s, g, f.e.At, f.e.Actor)...); len(rs) > 0 {
		return f.unlawful(rs)
	}
	g.Phase = GateConfirmed
	f.setGate(g)
	return nil
}

// gateClosed disarms a gate, or records that one which was wanted stays shut.
// What an earlier act came to is not touched by it.
func (f *folder) gateClosed(b GateClosed) error {
	i := f.find(b.Step)
	if i < 0 || f.s.Steps[i].Kind != GateStep {
		return f.refuse("no plan has a gate %q", b.Step)
	}
	g := f.s.Gates[b.Step]
	g.Step = b.Step
	live := g.Phase == GateArmed || g.Phase == GateConfirmed
	switch {
	case g.Phase == GateActing:
		return f.refuse("gate %q is acting and cannot be closed", b.Step)
	case live && b.Digest != "" && b.Digest != g.Digest:
		return f.refuse("gate %q was closed for another preview", b.Step)
	}
	if live {
		g.Phase, g.Digest = GateIdle, ""
	}
	g.Why, g.Moved, g.WasRefused = b.Why, b.Moved, b.Refused
	f.setGate(g)
	if len(b.Moved) > 0 {
		why := "the target of " + b.Step + " moved: " + strings.Join(b.Moved, ", ")
		f.stale(f.s.Steps[i].Refs, why)
		f.propose(why)
	}
	return nil
}

// armed lists, in order, the gates that are armed or confirmed.
func (f *folder) armed() []string {
	var out []string
	for id, g := range f.s.Gates {
		if g.Phase == GateArmed || g.Phase == GateConfirmed {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// disarm puts an armed gate back to idle and says why.
func (f *folder) disarm(id, why string) {
	g := f.s.Gates[id]
	g.Phase, g.Digest, g.Why, g.Moved, g.WasRefused = GateIdle, "", why, nil, false
	f.setGate(g)
	f.disarmed = append(f.disarmed, id+" is disarmed: "+why)
}

// changed disarms the gates that depend on a step whose facts or answer moved.
func (f *folder) changed(step, why string) {
	for _, id := range f.armed() {
		i := f.find(id)
		if dependsOn(&f.s.Steps[i], f.s.Gates[id], step) {
			f.disarm(id, why)
		}
	}
}

func dependsOn(gate *Step, g GateState, step string) bool {
	if slices.Contains(gate.Refs, step) {
		return true
	}
	for _, v := range g.Shown.Verdicts {
		for _, ref := range v.Refs {
			if ref == step || runbookOf(gate.ID)+"/"+ref == step {
				return true
			}
		}
	}
	return false
}

// disarmUnlawful disarms what the event at hand put against a law: whatever
// happened, no gate stays armed that could not be armed now.
func (f *folder) disarmUnlawful() {
	for _, id := range f.armed() {
		if rs := gateLaws(&f.s, &f.s.Steps[f.find(id)]); len(rs) > 0 {
			f.disarm(id, rs[0].Why)
		} else if g := f.s.Gates[id]; g.Phase == GateConfirmed && len(ownerLaws(&f.s, g)) > 0 {
			f.disarm(id, "an owner of its target is not paused")
		}
	}
}
