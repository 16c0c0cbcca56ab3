package triage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Plan is the compiled skeleton of the runbook in force from now on.
type Plan struct {
	Runbook string           `json:"runbook"`
	Title   string           `json:"title"`
	Digest  string           `json:"digest"`
	Blob    string           `json:"blob,omitempty"` // sha256 of the stored YAML
	Params  map[string]Value `json:"params,omitempty"`
	Matrix  int              `json:"matrix,omitempty"` // main row of the decision matrix, 0 for none
	Rows    []int            `json:"rows,omitempty"`   // all rows of the matrix, where there are several
	Departs string           `json:"departs,omitempty"`
	Proves  []Proves         `json:"proves,omitempty"` // the post-conditions, each with the steps of verify that show it
	From    string           `json:"from,omitempty"`   // the runbook that led here
	Steps   []PlanStep       `json:"steps"`
}

// Type implements [Body].
func (Plan) Type() string { return "plan" }

// fold puts a runbook in force. What earlier plans found stays; steps that the
// new one lacks are retired. The same runbook with another text may look elsewhere, so
// what it found before is stale; with other parameters, what stood on them is.
func (b Plan) fold(f *folder) error {
	if f.s.Acting != "" {
		return f.refuse("%q is acting", f.s.Acting)
	}
	if err := f.checkPlan(b); err != nil {
		return err
	}
	if f.s.Kind == Readiness && slices.ContainsFunc(b.Steps, func(st PlanStep) bool { return st.Kind == GateStep }) {
		return f.refuse("a review changes nothing, and %s has a gate", b.Runbook)
	}
	moved := false
	for i := range f.s.Plans {
		if old := &f.s.Plans[i]; old.Runbook == b.Runbook {
			moved = old.Digest != b.Digest || !b.named() && !maps.EqualFunc(old.Params, b.Params, sameValue)
		}
	}
	var changed []string
	if b.named() {
		changed = f.s.Reparamed(b.Runbook, b.Params)
	}
	if len(changed) > 0 {
		if rs := paramLaws(&f.s, b.Runbook); len(rs) > 0 {
			return f.unlawful(rs)
		}
	}
	fallen := f.fallen(b, changed)
	elsewhere, _ := f.replaced(b, changed)
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
	f.reparam(b, fallen, elsewhere)
	f.s.Plans = append(slices.Clip(f.s.Plans), b)
	return nil
}

func (b Plan) moment(f *folder) Moment {
	if b.From == b.Runbook {
		before := f.s
		before.Plans = before.Plans[:len(before.Plans)-1]
		old := before.Params(b.Runbook)
		var said []string
		for _, name := range before.Reparamed(b.Runbook, b.Params) {
			said = append(said, fmt.Sprintf("%s is %q, was %q", name, worded(b.Params[name]), worded(old[name])))
		}
		if len(said) > 0 {
			return Moment{Text: "parameters of " + b.Runbook + " changed: " + strings.Join(said, "; "), Level: "warning"}
		}
	}
	return Moment{Text: because("runbook "+b.Runbook+" is in force", b.Title), Level: "info"}
}

// PlanStep is one step of a Plan.
type PlanStep struct {
	ID       string   `json:"id"` // <runbook>/<step>
	Phase    Phase    `json:"phase"`
	Kind     StepKind `json:"kind"`
	Uses     string   `json:"uses,omitempty"` // the kind of a probe, watch or gate; the topic of a conclude
	Class    Class    `json:"class,omitempty"`
	Title    string   `json:"title,omitempty"`
	Required bool     `json:"required,omitempty"`
	Heavy    bool     `json:"heavy,omitempty"`
	Answers  []string `json:"answers,omitempty"` // of an ask, `unknown` not among them
	Green    []string `json:"green,omitempty"`   // of an ask in verify: the answers that prove the recovery
	Covers   []string `json:"covers,omitempty"`
	Refs     []string `json:"refs,omitempty"`   // steps whose facts or answers its conditions use
	Params   []string `json:"params,omitempty"` // parameters that it uses
	About    []string `json:"about,omitempty"`  // of a question or a step by hand: facts that its text names, as STEP.FACT
	Greens   int      `json:"greens,omitempty"` // of a watch
	Apart    string   `json:"apart,omitempty"`  // of a watch, a Go duration
	Fresh    string   `json:"fresh,omitempty"`  // a Go duration
	Pays     string   `json:"pays,omitempty"`   // kind of debt that a manual step pays
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

func (f *folder) checkPlan(b Plan) error {
	if blank(b.Runbook) {
		return f.refuse("the plan names no runbook")
	}
	for _, n := range append([]int{b.Matrix}, b.Rows...) {
		if _, ok := Matrix(n); n != 0 && !ok {
			return f.refuse("the decision matrix has no row %d", n)
		}
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
		return f.refuse("step %q is in %q, which is not a phase", p.ID, p.Phase)
	}
	switch p.Kind {
	case ProbeStep, AskStep, ManualStep, CompareStep, NoteStep:
	case ConcludeStep:
		if !slices.Contains(topics(), Topic(p.Uses)) {
			return f.refuse("step %q concludes %q, which is not a topic", p.ID, p.Uses)
		}
	case GateStep:
		if !slices.Contains([]Class{Contain, Release, Repair, Rerun}, p.Class) {
			return f.refuse("gate %q has %q, which is not a class of gates", p.ID, p.Class)
		}
	case WatchStep:
		if _, err := duration(p.Apart, 0); err != nil || p.Greens < 0 {
			return f.refuse("watch %q has no valid pace (%d greens, %q apart)", p.ID, p.Greens, p.Apart)
		}
	default:
		return f.refuse("step %q is a %q, which is not a kind of step", p.ID, p.Kind)
	}
	if _, err := duration(p.Fresh, 0); err != nil {
		return f.refuse("step %q: its freshness %q is not a duration", p.ID, p.Fresh)
	}
	return nil
}
