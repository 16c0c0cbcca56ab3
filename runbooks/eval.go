package runbooks

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"handrail/steps"
	"handrail/triage"
)

// Vars is what is known when a runbook is asked something.
type Vars struct {
	Params steps.Params
	// Facts by bare step id. A step or fact that is absent is unknown.
	Facts map[string]map[string]steps.Value
	// Answers by bare step id; "unknown" and absent are unknown.
	Answers map[string]string
	// Stale says of a step why its facts or answer no longer count.
	Stale map[string]string
	// Old are the steps of Stale that nothing speaks against but their age.
	Old map[string]bool
	// Read is when the facts of a step were read: ages grow from there.
	Read map[string]time.Time

	Domain string // that was concluded, "" for none

	older time.Duration // how much later than read the ages are looked at
}

// The results of judging a condition.
const (
	resTrue    = "true"
	resFalse   = "false"
	resUnknown = "unknown"
	resError   = "error"
	resStale   = "stale"
)

// verdict is what an expression came to.
type verdict struct {
	val     ref.Val // of a known result
	result  string  // for a value: true when it is known
	missing []string
	aged    []string // steps of which some of that is too old
	why     string
}

// ageless is v with what merely grew old taken as it was read.
func (v Vars) ageless() Vars {
	stale := make(map[string]string, len(v.Stale))
	for id, why := range v.Stale {
		if !v.Old[id] {
			stale[id] = why
		}
	}
	v.Stale = stale
	return v
}

func (v verdict) known() bool { return v.val != nil }

// lookup returns the value of a variable, or why there is none.
func (v Vars) lookup(x variable) (val any, stale bool, why string) {
	if x.step == "" {
		got, ok := v.Params[x.field.Name]
		if !ok && textual(x.field.Type) && !x.field.Required && x.field.Default == "" {
			return "", false, "" // an optional text that was not given is empty, by definition
		}
		return native(got, x.field)
	}
	if why, ok := v.Stale[x.step]; ok {
		return nil, true, why
	}
	if strings.HasPrefix(x.name, "answers.") {
		a, ok := v.Answers[x.step]
		switch {
		case !ok || a == "":
			return nil, false, "not answered yet"
		case a == triage.Unknown:
			return nil, false, "it is unknown"
		case !slices.Contains(x.field.Values, a):
			return nil, false, fmt.Sprintf("the answer %q is not one of the choices", a)
		}
		return a, false, ""
	}
	got, ok := v.Facts[x.step][x.field.Name]
	if !ok {
		return nil, false, "not read yet"
	}
	if d := got.Duration(); x.field.Ages && got.Known() && d > 0 {
		got = steps.DurationOf(d + v.older)
	}
	return native(got, x.field)
}

// native gives CEL the value; one of another type than declared, or outside its
// enumeration, is unknown.
func native(v steps.Value, f steps.Field) (val any, stale bool, why string) {
	if !v.Known() {
		return nil, false, v.Why()
	}
	if v.Type() != f.Type && !(textual(v.Type()) && textual(f.Type)) {
		return nil, false, fmt.Sprintf("a %s where a %s was declared", v.Type(), f.Type)
	}
	switch f.Type {
	case steps.Bool:
		return v.Bool(), false, ""
	case steps.Int:
		return v.Int(), false, ""
	case steps.Duration:
		return v.Duration(), false, ""
	case steps.Time:
		return v.Time(), false, ""
	case steps.Strings:
		return v.Strings(), false, ""
	case steps.Table:
		return v.Table(), false, ""
	}
	s := v.Text()
	if f.Type == steps.Enum && !slices.Contains(f.Values, s) {
		return nil, false, fmt.Sprintf("%q is not one of %s", s, strings.Join(f.Values, ", "))
	}
	return s, false, ""
}

// eval judges e. Unknown inputs go in as patterns, so that CEL's own logic
// decides whether they matter.
func (r *Runbook) eval(e *expr, v Vars) verdict {
	if err := r.compiled(); err != nil || e.prog == nil {
		return verdict{result: resError, why: "the expression does not compile"}
	}
	known := make(map[string]any, len(e.refs))
	reason := map[string]string{}
	var patterns []*cel.AttributePatternType
	var aged []string
	for _, name := range e.refs {
		val, stale, why := v.lookup(r.scope.vars[name])
		if val == nil {
			patterns = append(patterns, cel.AttributePattern(name))
			reason[name] = why
			if stale {
				aged = append(aged, name)
			}
			continue
		}
		known[name] = val
	}
	in, err := cel.PartialVars(known, patterns...)
	if err != nil {
		return verdict{result: resError, why: err.Error()}
	}
	out, _, err := e.prog.Eval(in)
	if err != nil {
		return verdict{result: resError, why: err.Error()}
	}
	u, ok := out.(*types.Unknown)
	if !ok {
		res := resTrue
		if out == types.False {
			res = resFalse
		}
		return verdict{val: out, result: res}
	}
	missing := names(u)
	if len(missing) == 0 {
		missing = slices.DeleteFunc(slices.Clone(e.refs), func(n string) bool { _, ok := reason[n]; return !ok })
	}
	res := verdict{result: resUnknown, missing: missing}
	var whys []string
	for _, m := range missing {
		if slices.Contains(aged, m) {
			res.result = resStale
			if step := r.scope.vars[m].step; !slices.Contains(res.aged, step) {
				res.aged = append(res.aged, step)
			}
		}
		whys = append(whys, m+" is unknown: "+reason[m])
	}
	res.why = strings.Join(whys, "; ")
	return res
}

// names returns the variables that an unknown result hangs on.
func names(u *types.Unknown) []string {
	var out []string
	for _, id := range u.IDs() {
		trails, _ := u.GetAttributeTrails(id)
		for _, t := range trails {
			if n := t.Variable(); n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// render gives the text of t; what is unknown shows as unknown.
func (r *Runbook) render(t *text, v Vars) string {
	s, _ := r.renderNeeding(t, v)
	return s
}

// renderNeeding is render, and tells what was unknown.
func (r *Runbook) renderNeeding(t *text, v Vars) (string, []verdict) {
	if t == nil {
		return "", nil
	}
	var out strings.Builder
	var lacking []verdict
	for _, p := range t.parts {
		if p.expr == nil {
			out.WriteString(p.literal)
			continue
		}
		got := r.eval(p.expr, v)
		if !got.known() {
			lacking = append(lacking, got)
			out.WriteString(triage.Unknown)
			continue
		}
		out.WriteString(show(got.val))
	}
	return out.String(), lacking
}

// show gives the text of a value for a person.
func show(v ref.Val) string {
	switch v := v.(type) {
	case types.Duration:
		return span(v.Duration)
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339)
	case types.String:
		return string(v)
	}
	if ss, ok := stringsOf(v); ok {
		return strings.Join(ss, ", ")
	}
	if m, ok := tableOf(v); ok {
		return steps.TableOf(m).Text()
	}
	return fmt.Sprint(v.Value())
}

// each gives the entries of a list or a table, nil for less than two of them.
func each(v ref.Val) []string {
	var out []string
	if ss, ok := stringsOf(v); ok {
		out = ss
	} else if m, ok := tableOf(v); ok {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out = append(out, k+": "+m[k])
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

func stringsOf(v ref.Val) ([]string, bool) {
	got, err := v.ConvertToNative(reflect.TypeFor[[]string]())
	ss, ok := got.([]string)
	return ss, ok && err == nil
}

func tableOf(v ref.Val) (map[string]string, bool) {
	got, err := v.ConvertToNative(reflect.TypeFor[map[string]string]())
	m, ok := got.(map[string]string)
	return m, ok && err == nil
}

// span writes a duration without its zero parts: 47m, not 47m0s.
func span(d time.Duration) string {
	if d > time.Second || d < -time.Second {
		d = d.Round(time.Second)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// typed turns the value of one whole expression to a value of type t.
func typed(t steps.Type, v ref.Val) (steps.Value, error) {
	switch v := v.(type) {
	case types.Bool:
		if t == steps.Bool {
			return steps.BoolOf(bool(v)), nil
		}
	case types.Int:
		if t == steps.Int {
			return steps.IntOf(int64(v)), nil
		}
	case types.Duration:
		if t == steps.Duration {
			return steps.DurationOf(v.Duration), nil
		}
	case types.Timestamp:
		if t == steps.Time {
			return steps.TimeOf(v.Time), nil
		}
	}
	switch t {
	case steps.Strings:
		if ss, ok := stringsOf(v); ok {
			return steps.StringsOf(slices.Clone(ss)), nil
		}
	case steps.Table:
		if m, ok := tableOf(v); ok {
			return steps.TableOf(m), nil
		}
	}
	return steps.ParseValue(t, show(v))
}
