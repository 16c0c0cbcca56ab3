package steps

import (
	"io"
	"maps"
	"slices"
)

// Facts gathers what a probe saw; what it did not set is unknown for the reason
// given. A name that its kind does not declare is kept beside: [Kind.Undeclared]
// finds it, tests fail by it, and the session drops it into a gap.
type Facts struct {
	fields []Field
	got    map[string]Value
}

// NewFacts starts with nothing seen of what a kind declares.
func NewFacts(fields []Field) Facts {
	return Facts{fields: fields, got: make(map[string]Value, len(fields))}
}

// Set keeps what was seen.
func (f Facts) Set(name string, v Value) { f.got[name] = v }

// Got returns what was set, the zero value where nothing was.
func (f Facts) Got(name string) Value { return f.got[name] }

// Unknown sets each name to unknown for one reason.
func (f Facts) Unknown(why string, names ...string) {
	for _, name := range names {
		var of Type // none of a name that is not declared
		if i := slices.IndexFunc(f.fields, func(d Field) bool { return d.Name == name }); i >= 0 {
			of = f.fields[i].Type
		}
		f.got[name] = Unknown(of, why)
	}
}

// Rest makes every fact that was not set unknown.
func (f Facts) Rest(why string) map[string]Value {
	for _, field := range f.fields {
		if _, ok := f.got[field.Name]; !ok {
			f.Unknown(why, field.Name)
		}
	}
	return f.got
}

// Undeclared names, in order, the facts that the kind does not declare.
func (k Kind) Undeclared(facts map[string]Value) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(facts)), func(name string) bool {
		return slices.ContainsFunc(k.Facts, func(f Field) bool { return f.Name == name })
	})
}

// Keep stores raw bytes as an artifact; what cannot be kept is a gap.
func Keep(out Sink, role, media string, write func(io.Writer) error) (gap string) {
	w := out.Artifact(role, media)
	err := write(w)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "the artifact " + role + " was not kept whole: " + err.Error()
	}
	return ""
}
