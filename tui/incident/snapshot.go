package incident

import (
	"slices"
	"strings"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/ink"
)

// Case is what is known of the incident that is shown: its newest snapshot, and
// what screens ask of it.
type Case struct{ Snap view.Snapshot }

// Gist is the text of an entry without the runbook's name before the step's.
func Gist(m triage.Moment) ink.Text {
	if rest, ok := strings.CutPrefix(m.Text, m.Step); ok && m.Step != "" {
		return Short(m.Step) + ink.Inline(rest)
	}
	return ink.Shown(m.Text)
}

// EntryOf is the entry in which the newest result of a step is.
func (r *Case) EntryOf(st triage.Step) int64 {
	if st.Kind == triage.GateStep {
		return r.Snap.State.Gates[st.ID].EndSeq
	}
	return st.EndSeq
}

// Before is the entry of the reading before the newest one, 0 for none.
func (r *Case) Before(st triage.Step) int64 {
	for _, mo := range slices.Backward(r.Snap.State.Timeline) {
		if mo.Step == st.ID && mo.Type == "probe.end" && mo.Seq < st.EndSeq {
			return mo.Seq
		}
	}
	return 0
}

// Users are the steps that stand on a step, in the order of the loop.
func (r *Case) Users(id string) []triage.Step {
	return slices.DeleteFunc(r.Steps(), func(st triage.Step) bool { return !slices.Contains(st.Refs, id) })
}

// Barred says why what a step asks for cannot be done now: the laws of the loop,
// and what the session has against starting it.
func (r *Case) Barred(step string) []triage.Refusal {
	st, ok := r.Snap.State.Step(step)
	if !ok || st.Status == triage.Running || r.Closed() {
		return nil
	}
	kind, ok := Does[st.Kind]
	if !ok {
		return nil
	}
	o, _ := r.Option(kind, step)
	return append(slices.Clone(o.Refusals), r.Snap.Cards[step].Shut...)
}

// Does is the intent that a step of each kind asks for.
var Does = map[triage.StepKind]triage.IntentKind{
	triage.AskStep: triage.DoAnswer, triage.ProbeStep: triage.DoProbe, triage.CompareStep: triage.DoProbe,
	triage.WatchStep: triage.DoProbe, triage.ManualStep: triage.DoManual, triage.ConcludeStep: triage.DoConclude,
	triage.GateStep: triage.DoPreview,
}

// Can says that an intent is offered and nothing bars it.
func (r *Case) Can(k triage.IntentKind, step string) bool {
	_, ok := r.Option(k, step)
	return ok && len(r.Barred(step)) == 0
}

// Reading are the probes in flight, without an act.
func (r *Case) Reading() []view.Running {
	return slices.DeleteFunc(slices.Clone(r.Snap.Running), func(x view.Running) bool { return x.Act })
}

// Recommended is what the loop would do next.
func (r *Case) Recommended() (triage.Option, bool) {
	i := slices.IndexFunc(r.Snap.Options, func(o triage.Option) bool { return o.Recommended })
	if i < 0 {
		return triage.Option{}, false
	}
	return r.Snap.Options[i], true
}

// Option finds what may be done with a step.
func (r *Case) Option(k triage.IntentKind, step string) (triage.Option, bool) {
	i := slices.IndexFunc(r.Snap.Options, func(o triage.Option) bool { return o.Kind == k && o.Step == step })
	if i < 0 {
		return triage.Option{}, false
	}
	return r.Snap.Options[i], true
}

// Steps are those of the plan in force, in the order of the loop.
func (r *Case) Steps() []triage.Step {
	out := make([]triage.Step, 0, len(r.Snap.State.Steps))
	for _, p := range triage.Phases() {
		for _, st := range r.Snap.State.Steps {
			if st.Phase == p && !st.Retired {
				out = append(out, st)
			}
		}
	}
	return out
}

// Title is what a step is called, for people.
func (r *Case) Title(id string) ink.Text { return ink.Shown(r.Snap.Title(id)) }

// Running finds the step in flight.
func (r *Case) Running(id string) (view.Running, bool) {
	i := slices.IndexFunc(r.Snap.Running, func(x view.Running) bool { return x.Step == id })
	if i < 0 {
		return view.Running{}, false
	}
	return r.Snap.Running[i], true
}

// Wider says that a gate affects more than the first one of the plan that
// contains, which costs a reason.
func (r *Case) Wider(step string) bool {
	for _, p := range r.Snap.State.Plan().Steps {
		if p.Kind == triage.GateStep && p.Class == triage.Contain {
			st, _ := r.Snap.State.Step(step)
			return st.Class == triage.Contain && p.ID != step
		}
	}
	return false
}

// Acting says that an act is running.
func (r *Case) Acting() bool { return r.Snap.State.Acting != "" }

// Closed says that the incident has ended.
func (r *Case) Closed() bool { return r.Snap.State.Outcome != "" }

// Armed says whether a gate could act now.
func (r *Case) Armed() bool {
	for _, g := range r.Snap.State.Gates {
		if g.Phase == triage.GateArmed || g.Phase == triage.GateConfirmed {
			return true
		}
	}
	return false
}

// Blocked says that a gate is armed, and that a person must answer for an owner of its
// target before it takes the phrase (law 12).
func (r *Case) Blocked() bool {
	return slices.ContainsFunc(r.Snap.Options, func(o triage.Option) bool {
		return o.Kind == triage.DoWaive && o.Value == "12" && r.Snap.State.Gates[o.Step].Phase == triage.GateArmed
	})
}

// Short is a step id without its runbook.
func Short(id string) ink.Text {
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	return ink.Shown(id)
}

// Proposed is what the facts propose for a conclusion.
func (r *Case) Proposed(o triage.Option) string {
	if v := r.Snap.Cards[o.Step].Proposed; v != "" {
		return v
	}
	return o.Value
}

// Debt finds a debt by its id.
func (r *Case) Debt(id string) triage.Debt {
	for _, d := range r.Snap.State.Debts {
		if d.ID == id {
			return d
		}
	}
	return triage.Debt{}
}
