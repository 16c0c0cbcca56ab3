package drills

import (
	"fmt"
	"slices"
	"strings"

	"handrail/session"
)

// Drill is one document of the library, checked. It must not be changed.
type Drill struct {
	ID      string
	Runbook string
	Title   string
	Page    string // what the trainee is paged with
	File    string

	params    map[string]string // of the runbook; may name ${drill.*}
	reference *session.Answers
	base      part
	variants  []variant
}

// part is what a variant may put in the place of the drill's own.
type part struct {
	inject []step
	export []export
	win    *win
	expect *Expect
}

type variant struct {
	part
	name    string
	title   string
	answers *session.Answers // put over the reference
}

// Expect says how the reference walk ends.
type Expect struct {
	Exit    int    `json:"exit"`              // code of the session
	Refused string `json:"refused,omitempty"` // step of the gate that must be refused, "" for none
}

// Scene is a drill with one variant applied: what is injected, how it is walked
// by the script, and when it is won.
type Scene struct {
	Drill   *Drill
	Variant string // "" for the drill itself
	Title   string
	Answers *session.Answers
	Expect  Expect

	inject []step
	export []export
	win    *win
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
	s := Scene{Drill: d, Variant: name, Title: d.Title, Answers: d.reference, Expect: *d.base.expect,
		inject: d.base.inject, export: d.base.export, win: d.base.win}
	if name == "" {
		return s, nil
	}
	i := slices.IndexFunc(d.variants, func(v variant) bool { return v.name == name })
	if i < 0 {
		return Scene{}, fmt.Errorf("drill %s has no variant %q: it has %s", d.ID, name, or(strings.Join(d.Variants(), ", "), "none"))
	}
	v := d.variants[i]
	s.Title = or(v.title, s.Title)
	if v.inject != nil {
		s.inject = v.inject
	}
	if v.export != nil {
		s.export = v.export
	}
	if v.win != nil {
		s.win = v.win
	}
	if v.expect != nil {
		s.Expect = *v.expect
	}
	s.Answers = d.reference.Over(v.answers)
	return s, nil
}

// Name is the drill and its variant, as a person would say it.
func (s Scene) Name() string {
	if s.Variant == "" {
		return s.Drill.ID
	}
	return s.Drill.ID + " (" + s.Variant + ")"
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
