package view

import (
	"slices"
	"strings"

	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// Tries is how many wrong phrases close a gate.
const Tries = 3

// Front is the gate in front of the call, as it was shown last.
type Front struct {
	Step     string
	Preview  steps.Preview
	Digest   steps.Digest
	Verdicts []triage.Verdict
	Refusals []triage.Refusal // why it is not armed
	Moved    []string         // what moved, after a re-read that differed
	Wrong    int              // wrong phrases so far
	WrongAt  int              // the character at which the newest wrong phrase differs, from 1
}

// gate is the gate in front of the call.
func (s *Scene) gate(t Texts) *Gate {
	f := s.Front
	if f == nil {
		return nil
	}
	g := s.State.Gates[f.Step]
	step, _ := s.State.Step(f.Step)
	v := &Gate{
		Step: f.Step, Title: t.Cards[f.Step].Title, Phase: g.Phase, Class: step.Class, Preview: f.Preview, Digest: f.Digest,
		Verdicts: f.Verdicts, Refusals: f.Refusals, Wrong: f.Wrong, WrongAt: f.WrongAt, Moved: f.Moved,
		Response: g.Response, After: g.After,
	}
	switch g.Phase {
	case triage.GateArmed, triage.GateConfirmed:
		v.Until = g.Shown.Until
	case triage.GateIdle:
		if len(v.Refusals) == 0 && g.Why != "" {
			v.Refusals = []triage.Refusal{{Why: g.Why, Cure: "preview it again", At: g.Opens}}
		}
	case triage.GateDone, triage.GateRefused, triage.GateFailed, triage.GateUnknown:
		v.Outcome = string(g.Phase)
	}
	if g.StartSeq > g.ShownSeq {
		v.Preview.Undo = undoOf(v.Preview.Undo, g.Kept)
	}
	v.Evidence = s.Cited(f.Verdicts, step)
	for _, w := range s.State.Waivers {
		if w.Law == 12 && (w.Subject == f.Step || slices.ContainsFunc(f.Preview.Owners, func(o steps.Owner) bool { return o.Name == w.Subject })) {
			v.Waived = append(v.Waived, w)
		}
	}
	v.Second = s.second(g)
	return v
}

// second is what is known of the second person of a gate.
func (s *Scene) second(g triage.GateState) *Second {
	second := g.Shown.Second
	if second == nil {
		return nil
	}
	out := &Second{Why: second.Why, May: second.May, By: g.Approvals}
	if g.Phase == triage.GateArmed || g.Phase == triage.GateConfirmed {
		out.Lacks = s.State.SecondLacks(g.Step, s.Now)
	}
	if r, ok := s.Requests[g.Step]; ok && g.Phase == triage.GateArmed {
		out.Request = r.Text()
	}
	return out
}

// Cited lists the evidence that the conditions of a gate stand on.
func (s *Scene) Cited(vs []triage.Verdict, gate triage.Step) []Cited {
	var out []Cited
	seen := map[string]bool{}
	add := func(id string) {
		st, ok := s.State.Step(id)
		if !ok || seen[id] || st.EndSeq == 0 {
			return
		}
		seen[id] = true
		text := st.Summary
		if st.Answer != "" {
			text = "answered " + st.Answer + ": " + st.How
		}
		out = append(out, Cited{Step: id, Text: text, At: st.Ended, Seq: st.EndSeq})
	}
	for _, v := range vs {
		for _, ref := range v.Refs {
			add(ref)
		}
	}
	for _, ref := range gate.Refs {
		add(ref)
	}
	return out
}

// lowers is the second person for whom a lower severity waits, nil where none does
// or can answer any more.
func (s *Scene) lowers() *Second {
	if s.Now.After(s.State.Lowering.Shown.Until) {
		return nil
	}
	return s.second(s.State.Lowering)
}

// undoOf is how a gate is undone: what its preview said, and once it began to
// act where the copy really lies.
func undoOf(shown string, kept *triage.Kept) string {
	if kept == nil || kept.Path == "" {
		return shown
	}
	if at := strings.Index(shown, "From the copy that is encrypted"); at >= 0 {
		shown = shown[:at]
	}
	return strings.TrimSpace(strings.TrimSpace(shown) + " From the encrypted copy: " + kept.Command)
}

// where is what the incident is about by its own targets: the directory and the
// workspace that its plan names, and the gates that were shown since.
func (s *Scene) where() []steps.KV {
	out := s.Around
	newest := int64(0)
	for _, g := range s.State.Gates {
		if g.ShownSeq > newest {
			newest = g.ShownSeq
		}
	}
	for _, g := range s.State.Gates {
		if g.ShownSeq == newest && newest > 0 {
			out = append(slices.Clone(out), policy.Shown(g.Shown)...)
		}
	}
	if f := s.Front; f != nil {
		out = append(slices.Clone(out), policy.Place(nil, append(slices.Clone(f.Preview.Target), f.Preview.Shown...))...)
	}
	return out
}
