package tui

import (
	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
	"slices"
	"strings"
)

// view is what is known of the incident that is shown: its newest snapshot, and
// what screens ask of it.
type view struct{ snap session.Snapshot }

// gist is the text of an entry without the runbook's name before the step's.
func gist(m triage.Moment) ink.Text {
	if rest, ok := strings.CutPrefix(m.Text, m.Step); ok && m.Step != "" {
		return short(m.Step) + ink.Inline(rest)
	}
	return ink.Shown(m.Text)
}

// entryOf is the entry in which the newest result of a step is.
func (r *view) entryOf(st triage.Step) int64 {
	if st.Kind == triage.GateStep {
		return r.snap.State.Gates[st.ID].EndSeq
	}
	return st.EndSeq
}

// before is the entry of the reading before the newest one, 0 for none.
func (r *view) before(st triage.Step) int64 {
	for _, mo := range slices.Backward(r.snap.State.Timeline) {
		if mo.Step == st.ID && mo.Type == "probe.end" && mo.Seq < st.EndSeq {
			return mo.Seq
		}
	}
	return 0
}

// users are the steps that stand on a step, in the order of the loop.
func (r *view) users(id string) []triage.Step {
	return slices.DeleteFunc(r.steps(), func(st triage.Step) bool { return !slices.Contains(st.Refs, id) })
}

// barred says why what a step asks for cannot be done now: the laws of the loop,
// and what the session has against starting it.
func (r *view) barred(step string) []triage.Refusal {
	st, ok := r.snap.State.Step(step)
	if !ok || st.Status == triage.Running || r.closed() {
		return nil
	}
	kind, ok := does[st.Kind]
	if !ok {
		return nil
	}
	o, _ := r.option(kind, step)
	return append(slices.Clone(o.Refusals), r.snap.Cards[step].Shut...)
}

// does is the intent that a step of each kind asks for.
var does = map[triage.StepKind]triage.IntentKind{
	triage.AskStep: triage.DoAnswer, triage.ProbeStep: triage.DoProbe, triage.CompareStep: triage.DoProbe,
	triage.WatchStep: triage.DoProbe, triage.ManualStep: triage.DoManual, triage.ConcludeStep: triage.DoConclude,
	triage.GateStep: triage.DoPreview,
}

// can says that an intent is offered and nothing bars it.
func (r *view) can(k triage.IntentKind, step string) bool {
	_, ok := r.option(k, step)
	return ok && len(r.barred(step)) == 0
}

// reading are the probes in flight, without an act.
func (r *view) reading() []session.Running {
	return slices.DeleteFunc(slices.Clone(r.snap.Running), func(x session.Running) bool { return x.Act })
}

func (r *view) recommended() (triage.Option, bool) {
	i := slices.IndexFunc(r.snap.Options, func(o triage.Option) bool { return o.Recommended })
	if i < 0 {
		return triage.Option{}, false
	}
	return r.snap.Options[i], true
}

// option finds what may be done with a step.
func (r *view) option(k triage.IntentKind, step string) (triage.Option, bool) {
	i := slices.IndexFunc(r.snap.Options, func(o triage.Option) bool { return o.Kind == k && o.Step == step })
	if i < 0 {
		return triage.Option{}, false
	}
	return r.snap.Options[i], true
}

// steps are those of the plan in force, in the order of the loop.
func (r *view) steps() []triage.Step {
	var out []triage.Step
	for _, p := range triage.Phases() {
		for _, st := range r.snap.State.Steps {
			if st.Phase == p && !st.Retired {
				out = append(out, st)
			}
		}
	}
	return out
}

func (r *view) title(id string) ink.Text {
	st, _ := r.snap.State.Step(id)
	for _, t := range []string{r.snap.Cards[id].Title, st.Title} {
		if t != "" {
			return ink.Shown(t)
		}
	}
	return short(id)
}

// running finds the step in flight.
func (r *view) running(id string) (session.Running, bool) {
	i := slices.IndexFunc(r.snap.Running, func(x session.Running) bool { return x.Step == id })
	if i < 0 {
		return session.Running{}, false
	}
	return r.snap.Running[i], true
}

// wider says that a gate contains more than the first one of the plan that
// contains, which costs a reason.
func (r *view) wider(step string) bool {
	for _, p := range r.snap.State.Plan().Steps {
		if p.Kind == triage.GateStep && p.Class == triage.Contain {
			st, _ := r.snap.State.Step(step)
			return st.Class == triage.Contain && p.ID != step
		}
	}
	return false
}

func (r *view) acting() bool { return r.snap.State.Acting != "" }

func (r *view) closed() bool { return r.snap.State.Outcome != "" }

// armed says whether a gate could act now.
func (r *view) armed() bool {
	for _, g := range r.snap.State.Gates {
		if g.Phase == triage.GateArmed || g.Phase == triage.GateConfirmed {
			return true
		}
	}
	return false
}

// short is a step id without its runbook.
func short(id string) ink.Text {
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	return ink.Shown(id)
}

// proposed is what the facts propose for a conclusion.
func (r *view) proposed(o triage.Option) string {
	if v := r.snap.Cards[o.Step].Proposed; v != "" {
		return v
	}
	return o.Value
}

func (r *view) debt(id string) triage.Debt {
	for _, d := range r.snap.State.Debts {
		if d.ID == id {
			return d
		}
	}
	return triage.Debt{}
}
