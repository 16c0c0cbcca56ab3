package terraform

import (
	"io"

	"handrail/steps"
)

// facts gathers what a probe saw; what it did not set is unknown for the reason
// given.
type facts struct {
	fields []steps.Field
	got    map[string]steps.Value
}

func newFacts(fields []steps.Field) facts {
	return facts{fields: fields, got: make(map[string]steps.Value, len(fields))}
}

func (f facts) set(name string, v steps.Value) { f.got[name] = v }

// unknown sets each name to unknown for one reason.
func (f facts) unknown(why string, names ...string) {
	for _, name := range names {
		for _, field := range f.fields {
			if field.Name == name {
				f.got[name] = steps.Unknown(field.Type, why)
			}
		}
	}
}

// rest makes every fact that was not set unknown.
func (f facts) rest(why string) map[string]steps.Value {
	for _, field := range f.fields {
		if _, ok := f.got[field.Name]; !ok {
			f.unknown(why, field.Name)
		}
	}
	return f.got
}

// keep stores raw bytes as an artifact; what cannot be kept is a gap.
func keep(out steps.Sink, role, media string, write func(io.Writer) error) (gap string) {
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
