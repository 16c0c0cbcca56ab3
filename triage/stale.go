package triage

import (
	"slices"
	"time"

	"handrail/triage/record"
)

// What falls once something that it rested on moved.

// stale marks the facts and answers of steps as no longer true of their target.
func (f *folder) stale(ids []string, why string) {
	for _, id := range ids {
		i := f.find(id)
		if i < 0 {
			continue
		}
		if st := f.s.Steps[i]; st.Status == Settled || st.Status == CannotTell {
			*f.step(i) = outdated(st)
			f.changed(id, why)
		}
	}
}

// propose offers to go back to compare, since what was found there may no
// longer hold. Whether the states agree is then unknown until a person says
// so again.
func (f *folder) propose(why string) {
	f.s.Return, f.s.ReturnWhy = Compare, why
	if c, ok := f.s.Topics[TopicConsistent]; ok && c.Value != Unknown {
		f.setTopic(Conclusion{Topic: TopicConsistent, Value: Unknown, Lapsed: true, Why: why, Seq: f.e.Seq, At: f.e.At})
	}
	for i := range f.s.Steps {
		st := f.s.Steps[i]
		about := st.Kind == CompareStep || (st.Kind == ConcludeStep && Topic(st.Uses) == TopicConsistent)
		if about && !st.Retired && st.Status == Settled {
			*f.step(i) = outdated(st)
			f.changed(st.ID, why)
		}
	}
}

// overtaker is the newest act, or repair by hand, that may have changed what was read before it:
// what a person calls it, and its entry, 0 for none. To pause and to resume change nothing of
// that; to release changes nothing of what failed.
func (s *State) overtaker(t Topic) (what string, seq int64) {
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Class == Contain || st.Class == Release && t != TopicConsistent || resumes(st.Uses) {
			continue
		}
		for _, a := range s.Acts(st.ID) {
			if a.Phase != GateRefused && a.EndSeq > seq {
				what, seq = st.ID, a.EndSeq
			}
		}
	}
	for _, h := range s.Hands {
		if h.Seq > seq {
			what, seq = "a repair by hand", h.Seq
		}
	}
	return what, seq
}

// Overtaken lists the reads and comparisons of the plan in force that a proposal for a topic rests
// on and that began before the newest act ended, and names that act: they tell how it was before,
// and no proposal rests on them. Whether something was changed by the failure itself is asked of
// the past, and no act overtakes that.
func (s *State) Overtaken(t Topic) (reads []string, by string) {
	if !slices.Contains([]Topic{TopicDomain, TopicConsistent, TopicClass}, t) {
		return nil, ""
	}
	by, since := s.overtaker(t)
	if since == 0 {
		return nil, ""
	}
	var rests []string
	for i := range s.Steps {
		st := &s.Steps[i]
		if !st.Retired && (st.Kind == ConcludeStep && Topic(st.Uses) == t || st.Kind == CompareStep && t == TopicConsistent) {
			rests = append(rests, st.Refs...)
		}
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		told := (st.Kind == ProbeStep || st.Kind == CompareStep) && (st.Status == Settled || st.Status == Stale)
		if told && !st.Retired && st.StartSeq < since && slices.Contains(rests, st.ID) {
			reads = append(reads, st.ID)
		}
	}
	if len(reads) == 0 {
		return nil, ""
	}
	return reads, by
}

// anew are the reads that are wanted before it is compared, or concluded, whether the states
// agree: those that an act overtook.
func anew(s *State, w want, judge func(step string) []Verdict) []want {
	st, _ := s.Step(w.step)
	if w.kind == DoProbe && idle(s, w, judge) {
		return nil
	}
	if w.topic != TopicConsistent && st.Kind != CompareStep && (st.Kind != ConcludeStep || Topic(st.Uses) != TopicConsistent) {
		return nil
	}
	var out []want
	reads, _ := s.Overtaken(TopicConsistent)
	for _, id := range reads {
		if x, _ := s.Step(id); x.Kind == ProbeStep || w.kind == DoConclude {
			out = append(out, want{kind: DoProbe, step: id})
		}
	}
	return out
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

// outdated is st after what it read has moved.
func outdated(st Step) Step {
	if st.Status == Settled || st.Status == CannotTell {
		st.Status = Stale
	}
	st.Outcome = "" // an attempt that begins now does not lean on the earlier one
	st.Streak, st.Greens, st.Green = 0, nil, ""
	st.Overruled, st.Answered = nil, nil // what was said of it was said of another target
	return st
}

// emptied is a step whose parameters changed: what it read is of something else, and
// so is what was said of it, waivers included. Its findings stand until it is read
// again. One that was passed over may apply now.
func emptied(st Step, seq int64) Step {
	switch st.Status {
	case Running:
		st.Void = true // what it reads is of the old value
	case Skipped:
		st.Status = Pending
	case Waived:
		st.Status = Stale
	}
	st = outdated(st)
	facts := make(map[string]Value, len(st.Facts))
	for name, v := range st.Facts {
		facts[name] = record.Unknown(v.Type(), reasked)
	}
	if st.Facts != nil {
		st.Facts = facts
	}
	st.Answer, st.How, st.Script, st.Rows, st.Moved = "", "", false, nil, seq
	st.KeptSeq, st.KeptAt = 0, time.Time{}
	return st
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
	g := f.unshown(f.s.Gates[id])
	g.Why, g.Moved, g.WasRefused, g.Refuses = why, nil, false, nil
	g.Opens = time.Time{}
	f.setGate(g)
	f.disarmed = append(f.disarmed, id+" is disarmed: "+why)
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
