package steps

import "time"

// Field declares a parameter or a fact.
type Field struct {
	Name     string
	Type     Type
	Doc      string
	Values   []string // of an Enum
	Default  string   // of a parameter, in its text form; "" with Required false means absent
	Required bool     // of a parameter
	Pattern  string   // of a textual parameter: the anchored grammar it must match
	Matched  bool     // of a Path parameter: the text that its runbook was matched by is what it names
	Later    bool     // of a Path parameter: the file comes during the incident, and need not be there at its start
	Literal  bool     // of a parameter: only the runbook itself gives it, never a parameter of the incident, a fact or an answer
	Lines    bool     // of a String parameter: a document of several lines, which reaches no argument list
	Words    bool     // of a Strings parameter: an argument list, which the runbook itself writes; what a ${…} puts into it never begins an option
	// Vet says, when the runbook is read, why a parameter cannot stand as written.
	Vet  func([]Written) error
	Ages bool // of a Duration fact: it grows with the clock, and nothing else changes it
}

// Params are the parameters of one step, by name.
type Params map[string]Value

// Text returns the text of a parameter, "" when absent or unknown.
func (p Params) Text(name string) string {
	if v, ok := p[name]; ok && v.Known() {
		return v.Text()
	}
	return ""
}

// Duration returns a duration parameter, 0 when absent or unknown.
func (p Params) Duration(name string) time.Duration { return p[name].Duration() }

// Int returns an int parameter, 0 when absent or unknown.
func (p Params) Int(name string) int64 { return p[name].Int() }

// Bool returns a bool parameter, false when absent or unknown.
func (p Params) Bool(name string) bool { return p[name].Bool() }
