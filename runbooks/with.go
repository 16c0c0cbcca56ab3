package runbooks

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"handrail/steps"
)

// With gives the parameters of a probe, watch or gate. The error is a
// *MissingError when one depends on what is not known, and an *ArgumentError
// when one has a value that the kind does not take. An optional text that comes
// out empty is left away.
func (r *Runbook) With(step string, v Vars) (steps.Params, error) {
	s := r.step(step)
	if s == nil {
		return nil, fmt.Errorf("runbook %s has no step %q", r.ID, step)
	}
	if err := r.compiled(); err != nil {
		return nil, err
	}
	out := steps.Params{}
	for _, a := range s.with {
		got, err := r.argument(s, a, v)
		if err != nil {
			return nil, err
		}
		if textual(a.field.Type) && got.Text() == "" {
			if a.field.Required {
				return nil, &ArgumentError{Step: s.ID, Param: a.field.Name, Why: "is empty", Ungiven: r.ungivenIn(a, v)}
			}
			continue
		}
		if err := fits(a.field, got); err != nil {
			return nil, &ArgumentError{Step: s.ID, Param: a.field.Name, Value: got.Text(), Why: "its kind does not take: " + err.Error()}
		}
		out[a.field.Name] = got
	}
	return out, nil
}

// Told gives the parameters of a step as far as v tells them: those that depend on what is
// not known, as a fact before its reading, are left out. What a kind would refuse is not
// looked at.
func (r *Runbook) Told(step string, v Vars) steps.Params {
	out := steps.Params{}
	s := r.step(step)
	if s == nil || r.compiled() != nil {
		return out
	}
	for _, a := range s.with {
		if got, err := r.argument(s, a, v); err == nil {
			out[a.field.Name] = got
		}
	}
	return out
}

// Behind are the parameters of the runbook on which an argument of a step rests, in order.
func (r *Runbook) Behind(step, argument string) (out []string) {
	s := r.step(step)
	if s == nil || r.compiled() != nil {
		return nil
	}
	for _, a := range s.with {
		if a.field.Name == argument {
			for _, t := range a.value {
				out = r.usedIn(t.exprs(), out)
			}
		}
	}
	slices.Sort(out)
	return out
}

// ungivenIn are the parameters without a value on which an argument rests, where it rests on
// nothing else.
func (r *Runbook) ungivenIn(a argument, v Vars) (out []string) {
	for _, t := range a.value {
		for _, e := range t.exprs() {
			out = append(out, r.ungiven(e, v)...)
		}
	}
	return out
}

func (r *Runbook) argument(s *Step, a argument, v Vars) (steps.Value, error) {
	missing := func(vs []verdict) error {
		e := &MissingError{Step: s.ID, Param: a.field.Name}
		for _, got := range vs {
			e.Missing = append(e.Missing, got.missing...)
			e.Why = got.why
		}
		return e
	}
	if a.list {
		var list []string
		for _, t := range a.value {
			item, lacking := r.renderNeeding(t, v)
			if len(lacking) > 0 {
				return steps.Value{}, missing(lacking)
			}
			if why := optionOf(a.field, t, item); why != "" {
				return steps.Value{}, &ArgumentError{Step: s.ID, Param: a.field.Name, Value: item, Why: why}
			}
			list = append(list, item)
		}
		return steps.StringsOf(list), nil
	}
	t := a.value[0]
	if e := t.whole(); e != nil {
		got := r.eval(e, v)
		if !got.known() {
			return steps.Value{}, missing([]verdict{got})
		}
		return typed(a.field.Type, got.val)
	}
	text, lacking := r.renderNeeding(t, v)
	if len(lacking) > 0 {
		return steps.Value{}, missing(lacking)
	}
	return steps.ParseValue(a.field.Type, text)
}

// optionOf says why a value may not stand in an argument list: what a ${…} gives begins no
// option that the runbook did not write, and has no control character.
func optionOf(f steps.Field, t *text, item string) string {
	if _, fixed := t.constant(); !f.Words || fixed {
		return ""
	}
	switch {
	case strings.HasPrefix(item, "-") && t.parts[0].expr != nil:
		return "begins with a hyphen and could be taken for an option"
	case strings.ContainsFunc(item, unicode.IsControl):
		return "has a control character in it"
	}
	return ""
}

// ungiven are the parameters without a value on which a condition rests, where it rests
// on nothing but parameters: a person gives them, and nothing has to be read.
func (r *Runbook) ungiven(e *expr, v Vars) []string {
	var out []string
	for _, name := range e.refs {
		x := r.scope.vars[name]
		if x.step != "" {
			return nil
		}
		if p := v.Params[x.field.Name]; !p.Known() || p.Text() == "" {
			out = append(out, x.field.Name)
		}
	}
	return out
}
