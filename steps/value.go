package steps

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Type is the type of a fact or parameter.
type Type string

// The types of values. Ident is a string that identifies (uid, lock id, sha):
// pattern redaction leaves it alone, and a gate refuses when it was redacted
// all the same. Path is a parameter only.
const (
	Bool     Type = "bool"
	Int      Type = "int"
	String   Type = "string"
	Enum     Type = "enum"
	Ident    Type = "ident"
	Duration Type = "duration"
	Time     Type = "time"
	Strings  Type = "strings"
	Table    Type = "table" // string to string
	Path     Type = "path"
)

// Field declares a parameter or a fact.
type Field struct {
	Name     string
	Type     Type
	Doc      string
	Values   []string // of an Enum
	Default  string   // of a parameter, in its text form; "" with Required false means absent
	Required bool     // of a parameter
	Pattern  string   // of a textual parameter: the anchored grammar it must match
	Literal  bool     // of a parameter: only the runbook itself gives it, never a parameter of the incident, a fact or an answer
	Lines    bool     // of a String parameter: a document of several lines, which reaches no argument list
}

// Value is one typed value. The zero value is unknown.
type Value struct {
	typ     Type
	known   bool
	unknown string // why, for an unknown value

	b   bool
	i   int64
	s   string
	d   time.Duration
	t   time.Time
	ss  []string
	tab map[string]string
}

// Of values: one constructor a type.

// BoolOf returns a known bool.
func BoolOf(b bool) Value { return Value{typ: Bool, known: true, b: b} }

// IntOf returns a known int.
func IntOf(i int64) Value { return Value{typ: Int, known: true, i: i} }

// StringOf returns a known string.
func StringOf(s string) Value { return Value{typ: String, known: true, s: s} }

// EnumOf returns a known value of an enumeration; the kind's declaration says
// which values are valid, and the session turns any other into unknown.
func EnumOf(s string) Value { return Value{typ: Enum, known: true, s: s} }

// IdentOf returns a known identifier.
func IdentOf(s string) Value { return Value{typ: Ident, known: true, s: s} }

// PathOf returns a known path, as given.
func PathOf(s string) Value { return Value{typ: Path, known: true, s: s} }

// DurationOf returns a known duration.
func DurationOf(d time.Duration) Value { return Value{typ: Duration, known: true, d: d} }

// TimeOf returns a known time, in UTC.
func TimeOf(t time.Time) Value { return Value{typ: Time, known: true, t: t.UTC()} }

// StringsOf returns a known list; it keeps a copy.
func StringsOf(ss []string) Value {
	return Value{typ: Strings, known: true, ss: append([]string{}, ss...)}
}

// TableOf returns a known table; it keeps a copy.
func TableOf(m map[string]string) Value {
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return Value{typ: Table, known: true, tab: c}
}

// Unknown returns an unknown value of type t; why says what could not be read.
func Unknown(t Type, why string) Value { return Value{typ: t, unknown: why} }

// Known reports whether v has a value.
func (v Value) Known() bool { return v.known }

// Type returns the type of v, "" for the zero value.
func (v Value) Type() Type { return v.typ }

// Why returns the reason of an unknown value.
func (v Value) Why() string {
	if v.known {
		return ""
	}
	if v.unknown == "" {
		return "not read"
	}
	return v.unknown
}

// Bool returns the value of a bool, false when unknown or of another type; use
// Known where the difference matters.
func (v Value) Bool() bool { return v.b }

// Int returns the value of an int, 0 when unknown.
func (v Value) Int() int64 { return v.i }

// Duration returns the value of a duration, 0 when unknown.
func (v Value) Duration() time.Duration { return v.d }

// Time returns the value of a time, zero when unknown.
func (v Value) Time() time.Time { return v.t }

// Strings returns the value of a list, nil when unknown. The caller must not
// change it.
func (v Value) Strings() []string { return v.ss }

// Table returns the value of a table, nil when unknown. The caller must not
// change it.
func (v Value) Table() map[string]string { return v.tab }

// Text returns the text form of a known value, the form that ParseValue takes,
// and "unknown" for an unknown one.
func (v Value) Text() string {
	if !v.known {
		return "unknown"
	}
	switch v.typ {
	case Bool:
		return strconv.FormatBool(v.b)
	case Int:
		return strconv.FormatInt(v.i, 10)
	case Duration:
		return v.d.String()
	case Time:
		return v.t.Format(time.RFC3339Nano)
	case Strings:
		return fmt.Sprintf("%q", v.ss)
	case Table:
		keys := make([]string, 0, len(v.tab))
		for k := range v.tab {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		var out string
		for i, k := range keys {
			if i > 0 {
				out += ", "
			}
			out += k + "=" + v.tab[k]
		}
		return out
	default:
		return v.s
	}
}

// ParseValue reads the text form of a scalar of type t.
func ParseValue(t Type, text string) (Value, error) {
	switch t {
	case Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return Value{}, fmt.Errorf("%q is not true or false", text)
		}
		return BoolOf(b), nil
	case Int:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Value{}, fmt.Errorf("%q is not a whole number", text)
		}
		return IntOf(i), nil
	case Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return Value{}, fmt.Errorf("%q is not a duration such as 90s, 30m or 2h", text)
		}
		return DurationOf(d), nil
	case Time:
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return Value{}, fmt.Errorf("%q is not a time such as 2006-01-02T15:04:05Z", text)
		}
		return TimeOf(at), nil
	case String, Enum, Ident, Path:
		return Value{typ: t, known: true, s: text}, nil
	default:
		return Value{}, fmt.Errorf("a value of type %s has no text form", t)
	}
}

// wire is the form of a value in the journal (docs/decisions.md, Values): a scalar as a
// string, a list as an array, a table as an object.
type wire struct {
	T       Type            `json:"t"`
	V       json.RawMessage `json:"v,omitempty"`
	Unknown string          `json:"unknown,omitempty"`
}

// MarshalJSON writes {"t":"duration","v":"2832s"} or
// {"t":"bool","unknown":"timed out after 10s"}.
func (v Value) MarshalJSON() ([]byte, error) {
	w := wire{T: v.typ}
	if !v.known {
		w.Unknown = v.Why()
		return json.Marshal(w)
	}
	var err error
	switch v.typ {
	case Strings:
		w.V, err = json.Marshal(v.ss)
	case Table:
		w.V, err = json.Marshal(v.tab)
	default:
		w.V, err = json.Marshal(v.Text())
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	if w.V == nil {
		*v = Unknown(w.T, w.Unknown)
		return nil
	}
	switch w.T {
	case Strings:
		var ss []string
		if err := json.Unmarshal(w.V, &ss); err != nil {
			return err
		}
		*v = StringsOf(ss)
	case Table:
		var m map[string]string
		if err := json.Unmarshal(w.V, &m); err != nil {
			return err
		}
		*v = TableOf(m)
	default:
		var s string
		if err := json.Unmarshal(w.V, &s); err != nil {
			return err
		}
		got, err := ParseValue(w.T, s)
		if err != nil {
			return err
		}
		*v = got
	}
	return nil
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
