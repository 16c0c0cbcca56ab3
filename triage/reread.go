package triage

import (
	"slices"
	"time"
)

// What stands of an act that was done, when its target is read again: the act
// holds, or it was undone. Unknown says that neither could be told.
const (
	Holds  = "holds"
	Undone = "undone"
)

// Reread is a target that is to be read again: its act is done, and what keeps
// writing the target would undo it now.
type Reread struct {
	Step   string
	Digest string
	Seq    int64 // of the end of the act
	Due    time.Time
}

// owesReread notes that the target of an act that is done is read again later.
// Only the newest act of a gate is looked after.
func (f *folder) owesReread(g GateState) {
	after, err := duration(g.Shown.Again, 0)
	f.dropReread(g.Step)
	if g.Phase != GateDone || err != nil || after <= 0 {
		return
	}
	f.s.Rereads = append(slices.Clone(f.s.Rereads), Reread{Step: g.Step, Digest: g.Digest, Seq: f.e.Seq, Due: f.e.At.Add(after)})
}

// doubt has each act that held read again at once: a proof that turned red may be the
// first to show that it was undone.
func (f *folder) doubt() {
	for _, st := range f.s.Steps {
		g, ok := f.s.Gates[st.ID]
		owed := slices.ContainsFunc(f.s.Rereads, func(r Reread) bool { return r.Step == st.ID })
		if ok && !owed && !st.Retired && g.Phase == GateDone && g.Again.Outcome == Holds {
			f.s.Rereads = append(slices.Clone(f.s.Rereads), Reread{Step: st.ID, Digest: g.Digest, Seq: g.EndSeq, Due: f.e.At})
		}
	}
}

func (f *folder) dropReread(step string) {
	f.s.Rereads = slices.DeleteFunc(slices.Clone(f.s.Rereads), func(r Reread) bool { return r.Step == step })
}

// ActAgain says what stands of an act that was done, some time after its end.
type ActAgain struct {
	Step     string   `json:"step"`
	Digest   string   `json:"digest"`
	Outcome  string   `json:"outcome"` // holds, undone or unknown
	Response string   `json:"response,omitempty"`
	After    []KV     `json:"after,omitempty"`
	Audit    []string `json:"audit,omitempty"`
}

// Type implements [Body].
func (ActAgain) Type() string { return "act.again" }

// fold records what a target looked like when it was read again. Where the
// act was undone, no green from before proves anything.
func (b ActAgain) fold(f *folder) error {
	i := slices.IndexFunc(f.s.Rereads, func(r Reread) bool { return r.Step == b.Step })
	switch {
	case i < 0:
		return f.refuse("nothing of %q is due to be read again", b.Step)
	case b.Digest != f.s.Rereads[i].Digest:
		return f.refuse("the second reading of %q is of another act", b.Step)
	case !slices.Contains([]string{Holds, Undone, Unknown}, b.Outcome):
		return f.refuse("%q is not the result of reading an act again", b.Outcome)
	}
	f.dropReread(b.Step)
	g := f.s.Gates[b.Step]
	g.Again, g.AgainSeq = b, f.e.Seq
	f.setGate(g)
	if i := slices.IndexFunc(f.s.Past, func(p GateState) bool { return p.StartSeq == g.StartSeq }); i >= 0 {
		f.s.Past = slices.Clone(f.s.Past)
		f.s.Past[i].Again, f.s.Past[i].AgainSeq = b, f.e.Seq
	}
	if b.Outcome == Undone {
		f.unprove()
		f.settled(f.step(f.find(b.Step)), Stale)
	}
	return nil
}

func (b ActAgain) moment(_ *folder) Moment {
	m := Moment{Step: b.Step, Text: because(b.Step+" read again: "+againText(b.Outcome), b.Response), Level: "info"}
	switch b.Outcome {
	case Undone:
		m.Level = "critical"
	case Unknown:
		m.Level = "warning"
	}
	return m
}

// Undone names the gates whose acts were undone, until a person says
// whether something reverts every fix.
func (s State) Undone() []string {
	said := s.Topics[TopicReverts].Seq
	if s.Topics[TopicReverts].Lapsed {
		said = 0 // what fell by itself says nothing
	}
	var out []string
	for _, st := range s.Steps {
		if g, ok := s.Gates[st.ID]; ok && g.Again.Outcome == Undone && g.AgainSeq > said {
			out = append(out, st.ID)
		}
	}
	return out
}

// undoneLaws keep repairs shut after an act was undone, until a person says anew
// whether something reverts every fix: doing it again would race its writer
// (law 12).
func undoneLaws(s *State) []Refusal {
	var out []Refusal
	for _, id := range s.Undone() {
		out = append(out, Refusal{
			Law: 12, Why: "the act of " + id + " was undone after it ended",
			Cure: "Find and pause the writer, then conclude reverts no.",
		})
	}
	return out
}

// rereadLaws keep an incident from being closed as recovered while what was done may
// yet be undone.
func rereadLaws(s *State) []Refusal {
	var out []Refusal
	for _, r := range s.Rereads {
		out = append(out, Refusal{
			Law: 8, Why: "the target of " + r.Step + " is read again at " + r.Due.UTC().Format("15:04:05") + " UTC",
			Cure: "Wait until then; handrail reads it by itself.",
		})
	}
	return out
}

// againText says what stands of an act.
func againText(outcome string) string {
	switch outcome {
	case Holds:
		return "it is still in effect"
	case Undone:
		return "it was undone"
	}
	return "it is unknown whether it is still in effect"
}

// raced reports whether nothing but a writer that reverts every fix keeps a gate
// shut, or the incident from being closed.
func raced(o *Option) bool {
	return (o.Kind == DoPreview || o.Kind == DoClose) && len(o.Refusals) > 0 &&
		!slices.ContainsFunc(o.Refusals, func(r Refusal) bool { return r.Law != 12 })
}

// lookAgain marks what is read once more before it is said anew whether something
// reverts every fix, and then the question itself: the loop stays with the writer.
// Going past the repair would end at a close with nothing repaired.
func lookAgain(s *State, options []Option) bool {
	if s.Topics[TopicReverts].Value != "yes" {
		return false
	}
	said := s.Topics[TopicReverts].Seq
	for _, st := range s.Steps {
		if st.Kind != ConcludeStep || st.Uses != string(TopicReverts) || st.Retired {
			continue
		}
		for _, x := range s.Steps {
			old := slices.Contains(st.Refs, x.ID) && x.EndSeq > 0 && x.EndSeq < said && x.Status != Skipped
			if old && mark(options, want{kind: DoProbe, step: x.ID}) {
				return true
			}
		}
	}
	return mark(options, want{kind: DoConclude, topic: TopicReverts})
}

// renew marks the first read or answer that only grew too old. Passing over the
// gate that waits for it would go on as if the gate had acted.
func renew(stale []string, options []Option) bool {
	for _, id := range stale {
		for i := range options {
			if o := &options[i]; o.Step == id && (o.Kind == DoProbe || o.Kind == DoAnswer) && o.Available() {
				o.Recommended = true
				return true
			}
		}
	}
	return false
}
