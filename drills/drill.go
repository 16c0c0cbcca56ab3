package drills

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"handrail/drills/inject"
	"handrail/drills/store"
	"handrail/runbooks"
	"handrail/session/walk"
	"handrail/triage"
)

// Drill is one document of the library, checked. It must not be changed.
type Drill struct {
	ID      string `key:"id,required" as:"id"`
	Runbook string `key:"runbook,required" as:"id"`
	Title   string `key:"title,required"`
	Page    string `key:"page,required"` // what the trainee is paged with
	Goal    string `key:"goal"`          // what winning takes, true of every variant, in words that give no way away
	File    string

	reference *walk.Answers
	base      part
	variants  []variant
	backends  []place
}

// part is what a variant may put in the place of the drill's own.
type part struct {
	params map[string]string // of the runbook; may name ${drill.*}
	inject inject.Steps
	later  []later
	export []export
	win    *win
	expect *Expect
	hands  map[string]inject.Steps // manual step to what is done for a script
	writes map[string][]objectRef  // gate to what the program that it runs may write besides the state
}

// objectRef is an object of the drill's namespace.
type objectRef struct{ plural, name string }

type variant struct {
	part
	name    string
	title   string
	answers *walk.Answers // put over the reference
}

// place is what holds on some backends of the state, for a variant or for the drill itself.
type place struct {
	variant
	on []string
}

// Expect says how the reference walk ends.
type Expect struct {
	Exit    int    `key:"exit,required" range:"0 7" json:"exit"` // code of the session
	Refused string `key:"refused" json:"refused,omitempty"`      // step of the gate that must be refused, "" for none
}

// over returns p with what base has where p has nothing of its own.
func (p part) over(base part) part {
	if p.params == nil {
		p.params = base.params
	}
	if p.inject == nil {
		p.inject = base.inject
	}
	if p.later == nil {
		p.later = base.later
	}
	if p.export == nil {
		p.export = base.export
	}
	if p.win == nil {
		p.win = base.win
	}
	if p.hands == nil {
		p.hands = base.hands
	}
	if p.writes == nil {
		p.writes = base.writes
	}
	if p.expect == nil {
		p.expect = base.expect
	}
	return p
}

func (p part) known() []string {
	names := p.inject.Given()
	for _, e := range p.export {
		if !e.late {
			names = append(names, e.name)
		}
	}
	return names
}

// Scene is a drill with one variant applied: what is injected, how it is walked
// by the script, and when it is won.
type Scene struct {
	Drill   *Drill
	Variant string // "" for the drill itself
	Backend string // of the state, "" for the one that the drill is written for
	Title   string
	Answers *walk.Answers
	Expect  Expect

	part
}

// Variants returns the names of the variants in the order of the document.
func (d *Drill) Variants() []string {
	var names []string
	for _, v := range d.variants {
		names = append(names, v.name)
	}
	return names
}

// Scene applies a variant; "" is the drill itself.
func (d *Drill) Scene(name string) (Scene, error) {
	s := Scene{Drill: d, Variant: name, Title: d.Title, Answers: d.reference, Expect: *d.base.expect, part: d.base}
	if name == "" {
		return s, nil
	}
	i := slices.IndexFunc(d.variants, func(v variant) bool { return v.name == name })
	if i < 0 {
		return Scene{}, fmt.Errorf("drill %s has no variant %q: it has %s", d.ID, name, cmp.Or(strings.Join(d.Variants(), ", "), "none"))
	}
	v := d.variants[i]
	s.Title = cmp.Or(v.title, s.Title)
	s.part = v.over(d.base)
	s.Expect = *s.expect
	s.Answers = d.reference.Over(v.answers)
	return s, nil
}

// Backends returns those that a variant runs on, "" for the drill itself, the one that it is written for first; none
// where it has no choice.
func (d *Drill) Backends(variant string) []string {
	var names []string
	for _, p := range d.backends {
		if p.name == variant {
			names = append(names, p.on...)
		}
	}
	return names
}

// home is the backend that the drill is written for, "" where it names none.
func (d *Drill) home() string {
	if len(d.backends) == 0 {
		return ""
	}
	return d.backends[0].on[0]
}

// On is a variant on a backend that it names, "" for the drill itself and for the backend that it is written for.
func (d *Drill) On(variant, backend string) (Scene, error) {
	if backend == "" || backend == d.home() {
		return d.Scene(variant)
	}
	i := slices.IndexFunc(d.backends, func(p place) bool { return p.name == variant && slices.Contains(p.on, backend) })
	if i < 0 {
		s, err := d.Scene(variant)
		if err != nil {
			return s, err
		}
		return Scene{}, fmt.Errorf("drill %s does not run on %q: it runs on %s", s.Name(), backend, cmp.Or(strings.Join(d.Backends(variant), ", "), "the backend that it is written for alone"))
	}
	p := d.backends[i]
	s, err := d.Scene(variant)
	if err != nil {
		return s, err
	}
	s.Backend = backend
	s.Title = cmp.Or(p.title, s.Title)
	s.part = p.over(s.part)
	s.Expect = *s.expect
	s.Answers = s.Answers.Over(p.answers)
	return s, nil
}

// Check names what the script and the later injections want of a runbook that
// lacks it, before anything is injected.
func (s Scene) Check(rb *runbooks.Runbook) error {
	for id := range s.hands {
		if st, ok := rb.Step(id); !ok || st.Kind != triage.ManualStep {
			return fmt.Errorf("%s: hands: runbook %s has no manual step %q", s.Drill.File, rb.ID, id)
		}
	}
	for gate := range s.writes {
		if st, ok := rb.Step(gate); !ok || st.Kind != triage.GateStep {
			return fmt.Errorf("%s: writes: runbook %s has no gate %q", s.Drill.File, rb.ID, gate)
		}
	}
	for _, l := range s.later {
		kind := triage.GateStep
		if l.manual {
			kind = triage.ManualStep
		}
		if st, ok := rb.Step(l.step); !ok || st.Kind != kind {
			return fmt.Errorf("%s: later: runbook %s has no %s step %q", s.Drill.File, rb.ID, kind, l.step)
		}
	}
	return s.Answers.Check(rb)
}

// Cluster reports whether the scene needs the practice cluster. One that does not has the state
// of its module elsewhere, and nothing of it is in a cluster.
func (s Scene) Cluster() bool {
	return !s.inject.Bucket() && (s.Backend == "" || !s.inject.Apart())
}

// Programs are the parts of the lab that the scene runs: the cluster, tofu, and what it injects
// with. A scene without a cluster takes a tofu or terraform of this machine where one fits.
func (s Scene) Programs() []string {
	var names []string
	if s.Cluster() {
		names = append(names, "cluster")
	}
	if s.inject.Module() {
		names = append(names, "tofu")
	}
	names = append(names, s.inject.Programs()...)
	serves, _ := store.Services(s.Backend)
	names = append(names, serves...)
	for _, l := range s.later {
		names = append(names, l.inject.Programs()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Name is the drill with its variant and its backend, as a person would say it.
func (s Scene) Name() string {
	switch {
	case s.Backend != "" && s.Variant != "":
		return s.Drill.ID + " (" + s.Variant + " on " + s.Backend + ")"
	case s.Backend != "":
		return s.Drill.ID + " (on " + s.Backend + ")"
	case s.Variant != "":
		return s.Drill.ID + " (" + s.Variant + ")"
	}
	return s.Drill.ID
}
