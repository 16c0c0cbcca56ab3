package steps

import "io"

// Facts gathers what a probe saw; what it did not set is unknown for the reason
// given.
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
		for _, field := range f.fields {
			if field.Name == name {
				f.got[name] = Unknown(field.Type, why)
			}
		}
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
