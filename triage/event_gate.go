package triage

import (
	"slices"
	"strings"
	"time"
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

// GateShown arms a gate: the preview was shown and nothing was unmet.
type GateShown struct {
	Step     string    `json:"step"`
	Digest   string    `json:"digest"`
	Class    Class     `json:"class"`
	Effect   string    `json:"effect"`
	Target   []KV      `json:"target"`
	Shown    []KV      `json:"shown,omitempty"`
	Diff     []string  `json:"diff,omitempty"` // what a rehearsal said would change
	Request  string    `json:"request"`
	Command  string    `json:"command"`
	Phrase   string    `json:"phrase"`
	Undo     string    `json:"undo,omitempty"`
	Owners   []Owner   `json:"owners,omitempty"`
	Owes     []Owed    `json:"owes,omitempty"`
	Pays     []Owed    `json:"pays,omitempty"` // debts of earlier acts that this one pays once it is done
	Verdicts []Verdict `json:"verdicts,omitempty"`
	Until    time.Time `json:"until"`
	Why      string    `json:"why,omitempty"`    // the reason that a wider containment costs (law 7)
	Audit    []string  `json:"audit,omitempty"`  // Audit-IDs of the requests of the preview
	Second   *Second   `json:"second,omitempty"` // who besides the operator must agree; nil where no one need
	Where    []KV      `json:"where,omitempty"`  // what policy was told of the place: cluster, workspace, directory, backend
	Rules    []KV      `json:"rules,omitempty"`  // the team's files in force, by digest, or that there are none
	Again    string    `json:"again,omitempty"`  // a Go duration: how long after the act its target is read again, "" for not at all

	// ByItself says that the preview began after a person's words, and no key asked for it.
	// Without it, as in every bundle from before it, a person asked.
	ByItself bool `json:"by_itself,omitempty"`
}

// Type implements [Body].
func (GateShown) Type() string { return "gate.shown" }

func (b GateShown) fold(f *folder) error {
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
		return f.refuse("the preview of %q had expired before it was shown", b.Step)
	}
	f.keepPast(g)
	g.Phase, g.Shown, g.Digest, g.ShownSeq = GateArmed, b, b.Digest, f.e.Seq
	g.Why, g.Moved, g.WasRefused, g.Opens, g.ByItself, g.Refuses = "", nil, false, time.Time{}, b.ByItself, nil
	// A signature is for one digest; those for another preview end here. Where it
	// counts it is for one showing, since it is over all that was shown.
	g.Approvals = slices.DeleteFunc(slices.Clone(g.Approvals), func(a Approve) bool { return a.Digest != b.Digest || b.Second != nil })
	f.setGate(g)
	return nil
}

// unshown is a gate whose preview is put away: as it stood after its newest act, where
// there was one, since a look takes nothing back of it.
func (f *folder) unshown(g GateState) GateState {
	i := slices.IndexFunc(f.s.Past, func(p GateState) bool { return g.StartSeq > 0 && p.Step == g.Step && p.StartSeq == g.StartSeq })
	if i < 0 {
		g.Phase, g.Digest = GateIdle, ""
		return g
	}
	was := f.s.Past[i]
	f.s.Past = slices.Delete(slices.Clone(f.s.Past), i, i+1)
	return was
}

// keepPast keeps a gate as it stood after its newest act: what is shown next writes
// over what was shown for that one.
func (f *folder) keepPast(g GateState) {
	if g.StartSeq == 0 || slices.ContainsFunc(f.s.Past, func(p GateState) bool { return p.StartSeq == g.StartSeq }) {
		return
	}
	f.s.Past = append(slices.Clone(f.s.Past), g)
}

func (b GateShown) moment(_ *folder) Moment {
	state := b.Step + " is armed"
	if b.Second != nil {
		state = b.Step + " is waiting for a second person"
	}
	if b.ByItself {
		state += ", its preview began by itself"
	}
	return Moment{Step: b.Step, Text: because(state, b.Effect), Level: "warning"}
}

// GateAnswered says that the phrase was typed and is equal.
type GateAnswered struct {
	Step   string `json:"step"`
	Digest string `json:"digest"`
	Typed  string `json:"typed"`
	Pasted bool   `json:"pasted,omitempty"`
}

// Type implements [Body].
func (GateAnswered) Type() string { return "gate.answered" }

func (b GateAnswered) fold(f *folder) error {
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

func (b GateAnswered) moment(_ *folder) Moment {
	how := "typed"
	if b.Pasted {
		how = "pasted"
	}
	return Moment{Step: b.Step, Text: b.Step + " confirmed: " + how + " " + b.Typed, Level: "warning"}
}

// GateClosed disarms a gate.
type GateClosed struct {
	Step    string   `json:"step"`
	Digest  string   `json:"digest,omitempty"`
	Why     string   `json:"why"`
	Moved   []string `json:"moved,omitempty"`   // what of the target moved
	Refused bool     `json:"refused,omitempty"` // a floor or law refused the gate, and the step was wanted
	Audit   []string `json:"audit,omitempty"`   // Audit-IDs of the requests that found the reason

	// Opens is when what only takes time no longer refuses it, zero where nothing of
	// the refusal does. Until then it is refused; then it must be read again.
	Opens time.Time `json:"opens,omitzero"`

	// ByItself says that the preview that was refused began by itself (GateShown.ByItself).
	ByItself bool `json:"by_itself,omitempty"`

	// Params are the parameters of the runbook whose values it refuses: with others it may open.
	Params []string `json:"params,omitempty"`
}

// Type implements [Body].
func (GateClosed) Type() string { return "gate.closed" }

// fold disarms a gate, or records that one which was wanted stays shut.
// What an earlier act came to is not touched by it.
func (b GateClosed) fold(f *folder) error {
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
		g = f.unshown(g)
	}
	g.Why, g.Moved, g.WasRefused, g.ClosedSeq, g.Opens, g.ByItself, g.Refuses = b.Why, b.Moved, b.Refused, f.e.Seq, b.Opens, b.ByItself, b.Params
	f.setGate(g)
	if len(b.Moved) > 0 {
		why := "the target of " + b.Step + " moved: " + strings.Join(b.Moved, ", ")
		f.stale(f.s.Steps[i].Refs, why)
		f.propose(why)
	}
	return nil
}

func (b GateClosed) moment(_ *folder) Moment {
	text := b.Step + " closed"
	switch {
	case b.Refused && b.ByItself:
		text = b.Step + " stayed shut, its preview began by itself"
	case b.Refused:
		text = b.Step + " refused"
	}
	text = because(text, b.Why)
	if len(b.Moved) > 0 {
		text += " (moved: " + strings.Join(b.Moved, ", ") + ")"
	}
	return Moment{Step: b.Step, Text: text, Level: "warning"}
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
