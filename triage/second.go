package triage

import (
	"slices"
	"strings"
	"time"
)

// Two persons. Where policy asks for a second one, a gate is confirmed, and acts,
// only while an approval by another person holds, with a key that is not the
// operator's, to the digest that is armed.

const (
	// approvalHolds is how long an approval holds from its signing on.
	approvalHolds = 10 * time.Minute
	// clocksApart is how far the clock of who signs may be ahead of the operator's.
	clocksApart = time.Minute
)

// Second says that a gate needs a second person, and all that this person sees
// besides the gate. It is recorded with the preview, so that an approval, which is
// over all of that, binds it.
type Second struct {
	Why      string   `json:"why"`             // what the policy says
	Title    string   `json:"title,omitempty"` // of the incident
	Severity Severity `json:"severity,omitempty"`
	Asks     []string `json:"asks"`             // every name of the operator that is known
	Own      []string `json:"own,omitempty"`    // fingerprints of keys at the operator's hand
	May      []string `json:"may,omitempty"`    // who may approve, as the allowed signers name them
	Where    []KV     `json:"where,omitempty"`  // cluster, workspace, host
	Stands   []Ground `json:"stands,omitempty"` // the evidence behind the gate
}

// Ground is a piece of evidence that a gate stands on.
type Ground struct {
	Seq  int64     `json:"seq"`
	Step string    `json:"step"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// Lapses is when an approval ends to count.
func (a Approve) Lapses() time.Time { return a.Signed.Add(approvalHolds) }

// Holding is the approval of a gate that counts at a moment, and whether there is
// one. A gate that needs none has none.
func (s State) Holding(step string, now time.Time) (Approve, bool) {
	return holding(s.Waits(step), now, s.Operator)
}

func holding(g GateState, now time.Time, operator string) (Approve, bool) {
	if g.Shown.Second == nil {
		return Approve{}, false
	}
	for _, a := range slices.Backward(g.Approvals) {
		if a.Digest == g.Digest && approverLack(*g.Shown.Second, a, operator) == "" && timeLack(a, now) == "" {
			return a, true
		}
	}
	return Approve{}, false
}

// SecondLacks says why a gate that needs a second person has none at a moment;
// nil where it has one or needs none.
func (s State) SecondLacks(step string, now time.Time) []Refusal {
	return secondLaws(&s, s.Waits(step), now, s.Operator)
}

// secondLaws is asked when a gate is confirmed and again when it acts. The actor
// is who would do that; an old journal may have no operator.
func secondLaws(s *State, g GateState, now time.Time, actor string) []Refusal {
	if g.Shown.Second == nil {
		return nil
	}
	_, ok := holding(g, now, s.Operator)
	if _, also := holding(g, now, actor); ok && also {
		return nil
	}
	const cure = "Send the request to an approver; they answer it with `handrail approve`."
	if n := len(g.Approvals); n > 0 {
		last := g.Approvals[n-1]
		if last.Digest == g.Digest && timeLack(last, now) != "" {
			return []Refusal{{Why: "the approval by " + last.Person + " has expired", Cure: "Get it approved again. " + cure}}
		}
		return []Refusal{{Why: last.Person + " approved it, and is no longer a different person", Cure: cure}}
	}
	return []Refusal{{Why: "a second person has not approved it: " + g.Shown.Second.Why, Cure: cure}}
}

// approverLack says why a person cannot be the second person, "" where they can.
func approverLack(second Second, a Approve, operator string) string {
	switch {
	case a.Key == "" || a.Signed.IsZero():
		return "it does not say which key signed it, or when"
	case slices.Contains(second.Own, a.Key):
		return "the key " + a.Key + " belongs to the operator; another person must sign with their own key"
	}
	for _, who := range append(slices.Clone(second.Asks), operator) {
		if samePerson(a.Person, who) {
			return a.Person + " is the operator; another person must approve it"
		}
	}
	return ""
}

// timeLack says why an approval does not count at a moment, "" where it does.
func timeLack(a Approve, now time.Time) string {
	switch {
	case a.Signed.After(now.Add(clocksApart)):
		return "it was signed in the future: the clocks of the two machines are more than a minute apart"
	case now.After(a.Lapses()):
		return "it was signed at " + a.Signed.UTC().Format(time.TimeOnly+"Z") + ", and an approval expires after ten minutes"
	}
	return ""
}

// samePerson is cautious: who has the same name before the @ is taken for the same
// person. The first may be several names with commas between them.
func samePerson(names, who string) bool {
	plain := func(s string) (whole, name string) {
		whole = strings.ToLower(strings.TrimSpace(s))
		name, _, _ = strings.Cut(whole, "@")
		return whole, name
	}
	whole, name := plain(who)
	for n := range strings.SplitSeq(names, ",") {
		w, l := plain(n)
		if w != "" && (w == whole || l != "" && l == name) {
			return true
		}
	}
	return false
}

// Approve is a second person's signature under a digest. Sig is an SSH
// signature; that it is one by Key is for the session and the audit to say.
type Approve struct {
	Digest string    `json:"digest"`
	Person string    `json:"person"`
	Sig    string    `json:"sig"`
	Key    string    `json:"key,omitempty"`   // fingerprint of the key that signed
	Signed time.Time `json:"signed,omitzero"` // by the clock of who signed; the approval lapses from then
}

// Type implements [Body].
func (Approve) Type() string { return "approve" }

func (b Approve) fold(f *folder) error {
	if blank(b.Person) || b.Sig == "" {
		return f.refuse("the approval has no person or no signature")
	}
	waiting := f.armed()
	if f.s.Lowering.Phase == GateArmed {
		waiting = append(waiting, SeverityGate)
	}
	for _, id := range waiting {
		g := f.s.Waits(id)
		if b.Digest == "" || g.Digest != b.Digest {
			continue
		}
		if why := f.unwelcome(g, b); why != "" {
			return f.refuse("%s", why)
		}
		g.Approvals = append(slices.Clip(g.Approvals), b)
		if id == SeverityGate {
			f.s.Lowering = g
		} else {
			f.setGate(g)
		}
		return nil
	}
	return f.refuse("no armed gate has the digest %q", b.Digest)
}

func (b Approve) moment(_ *folder) Moment {
	m := Moment{Text: b.Person + " approved the action " + b.Digest[:min(6, len(b.Digest))]}
	if b.Key != "" {
		m.Text += " with the key " + b.Key
	}
	return m
}

// unwelcome says why an approval of what is armed is not taken, "" where it is.
func (f *folder) unwelcome(g GateState, b Approve) string {
	second := g.Shown.Second
	again := slices.ContainsFunc(g.Approvals, func(a Approve) bool {
		return a.Person == b.Person && (second == nil || !b.Signed.After(a.Signed))
	})
	switch {
	case again:
		return b.Person + " has already approved " + g.Step
	case second == nil:
		return ""
	case f.e.At.After(g.Shown.Until):
		return "the preview of " + g.Step + " has expired"
	}
	for _, operator := range []string{f.s.Operator, f.e.Actor} {
		if why := approverLack(*second, b, operator); why != "" {
			return why
		}
	}
	return timeLack(b, f.e.At)
}
