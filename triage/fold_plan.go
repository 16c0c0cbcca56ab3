package triage

import (
	"maps"
	"slices"
	"strings"
)

// plan puts a runbook in force. What earlier plans found stays; steps that the
// new one lacks are retired. The same runbook with another text or other
// parameters may look elsewhere, so what it found before is stale.
func (f *folder) plan(b Plan) error {
	if f.s.Acting != "" {
		return f.refuse("%q is acting", f.s.Acting)
	}
	if err := f.checkPlan(b); err != nil {
		return err
	}
	moved := false
	for i := range f.s.Plans {
		if old := &f.s.Plans[i]; old.Runbook == b.Runbook {
			moved = old.Digest != b.Digest || !maps.EqualFunc(old.Params, b.Params, sameValue)
		}
	}
	for _, id := range f.armed() {
		f.disarm(id, "another plan came into force")
	}
	known := make(map[string]Step, len(f.s.Steps))
	for _, st := range f.s.Steps {
		known[st.ID] = st
	}
	byPhase := map[Phase][]Step{}
	fresh := make(map[string]bool, len(b.Steps))
	for _, p := range b.Steps {
		fresh[p.ID] = true
	}
	for _, st := range f.s.Steps {
		if !fresh[st.ID] {
			st.Retired = true
			byPhase[st.Phase] = append(byPhase[st.Phase], st)
		}
	}
	for _, p := range b.Steps {
		byPhase[p.Phase] = append(byPhase[p.Phase], renewed(known, p, moved))
	}
	steps := make([]Step, 0, len(known)+len(b.Steps))
	for _, p := range Phases() {
		steps = append(steps, byPhase[p]...)
	}
	f.s.Steps, f.own.steps = steps, true
	f.s.Plans = append(slices.Clip(f.s.Plans), b)
	return nil
}

// renewed is step p with what is known of it from an earlier plan.
func renewed(known map[string]Step, p PlanStep, moved bool) Step {
	st, ok := known[p.ID]
	if !ok || st.Kind != p.Kind {
		return Step{PlanStep: p, Status: Pending}
	}
	st.PlanStep, st.Retired = p, false
	if moved {
		st = outdated(st)
	}
	return st
}

// outdated is st after what it read has moved.
func outdated(st Step) Step {
	if st.Status == Settled || st.Status == CannotTell {
		st.Status = Stale
	}
	st.Outcome = "" // an attempt that begins now does not lean on the earlier one
	st.Streak, st.Greens, st.Green = 0, nil, ""
	st.Overruled = nil // what was said of it was said of another target
	return st
}

func (f *folder) checkPlan(b Plan) error {
	if blank(b.Runbook) {
		return f.refuse("the plan names no runbook")
	}
	if _, ok := Matrix(b.Matrix); b.Matrix != 0 && !ok {
		return f.refuse("the decision matrix has no row %d", b.Matrix)
	}
	seen := make(map[string]bool, len(b.Steps))
	for _, p := range b.Steps {
		if !strings.HasPrefix(p.ID, b.Runbook+"/") {
			return f.refuse("step id %q does not begin with %q", p.ID, b.Runbook+"/")
		}
		if seen[p.ID] {
			return f.refuse("the plan has step %q twice", p.ID)
		}
		seen[p.ID] = true
		if f.s.Gates[p.ID].StartSeq > 0 && p.Kind != GateStep {
			return f.refuse("step %q has acted and must stay a gate", p.ID)
		}
		if err := f.checkStep(p); err != nil {
			return err
		}
	}
	for _, p := range b.Steps {
		for _, ref := range p.Refs {
			if !seen[ref] && f.find(ref) < 0 {
				return f.refuse("step %q depends on %q, which no plan has", p.ID, ref)
			}
		}
	}
	return nil
}

func (f *folder) checkStep(p PlanStep) error {
	if !slices.Contains(Phases(), p.Phase) {
		return f.refuse("step %q is in %q, which is no phase", p.ID, p.Phase)
	}
	switch p.Kind {
	case ProbeStep, AskStep, ManualStep, CompareStep, NoteStep:
	case ConcludeStep:
		if !slices.Contains(topics(), Topic(p.Uses)) {
			return f.refuse("step %q concludes %q, which is no topic", p.ID, p.Uses)
		}
	case GateStep:
		if !slices.Contains([]Class{Contain, Release, Repair, Rerun}, p.Class) {
			return f.refuse("gate %q has %q, which is no class of gates", p.ID, p.Class)
		}
	case WatchStep:
		if _, err := duration(p.Apart, 0); err != nil || p.Greens < 0 {
			return f.refuse("watch %q has no valid pace (%d greens, %q apart)", p.ID, p.Greens, p.Apart)
		}
	default:
		return f.refuse("step %q is a %q, which is no kind of step", p.ID, p.Kind)
	}
	if _, err := duration(p.Fresh, 0); err != nil {
		return f.refuse("step %q: its freshness %q is no duration", p.ID, p.Fresh)
	}
	return nil
}
