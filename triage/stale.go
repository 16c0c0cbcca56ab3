package triage

import "handrail/triage/record"

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
	return st
}
