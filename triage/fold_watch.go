package triage

import (
	"slices"
	"time"

	"handrail/triage/record"
)

// What a watch needs where its plan says nothing (law 8).
const (
	defaultGreens = 2
	defaultApart  = 20 * time.Second
	keptGreens    = 32
	keptSamples   = 64
)

// sample counts one sample of a watch. A green counts only when it is far
// enough from the one before; a red or an unknown ends the streak.
func (f *folder) sample(st *Step, b ProbeEnd) {
	was := st.Green
	st.Green = Unknown
	if b.Outcome == "ok" && b.Green != nil && b.Green.Known() && b.Green.Type() == record.Bool {
		st.Green = b.Green.Text()
	}
	streak := st.Streak
	defer func() {
		kept := st.Samples[max(0, len(st.Samples)-keptSamples+1):]
		st.Samples = append(slices.Clip(kept), Sample{f.e.At, st.Green, st.Green == "true" && st.Streak > streak})
	}()
	switch st.Green {
	case "true":
		if f.overtaken(st) {
			f.settled(st, Pending)
		} else {
			f.green(st)
		}
		return
	case "false":
		f.settled(st, Pending)
	default:
		f.settled(st, CannotTell)
	}
	st.Streak, st.Greens = 0, nil
	// The same red again says nothing new to who concluded after the first.
	if was != st.Green || f.s.Topics[TopicConsistent].Value == "yes" {
		f.propose(st.ID + " is " + map[string]string{"false": "red", Unknown: "unknown"}[st.Green])
	}
	if was == "true" && st.Green == "false" {
		f.doubt()
	}
}

// overtaken reports whether an act ended after the attempt began, or a repair by hand
// was recorded: what it read may be from before it.
func (f *folder) overtaken(st *Step) bool {
	if slices.ContainsFunc(f.s.Hands, func(h Hand) bool { return h.Seq > st.StartSeq }) {
		return true
	}
	for _, g := range f.s.Gates {
		if g.Phase != GateRefused && g.EndSeq > st.StartSeq {
			return true
		}
	}
	return false
}

func (f *folder) green(st *Step) {
	apart, err := duration(st.Apart, defaultApart)
	if err != nil {
		apart = defaultApart // checkPlan refuses such a plan
	}
	if n := len(st.Greens); n == 0 || f.e.At.Sub(st.Greens[n-1]) >= apart {
		st.Streak++
		kept := st.Greens[max(0, n-keptGreens+1):]
		st.Greens = append(slices.Clip(kept), f.e.At)
	}
	if st.Streak >= greens(st) {
		f.settled(st, Settled)
	} else {
		f.settled(st, Pending)
	}
}

// greens is how many greens prove a watch.
func greens(st *Step) int {
	if st.PlanStep.Greens <= 0 {
		return defaultGreens
	}
	return st.PlanStep.Greens
}
