package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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

// Value is one typed value. The zero value is unknown.
type Value struct {
	typ   Type
	known bool
	text  string // of a text; why, of an unknown value
	n     int64  // of a bool, an int, a duration
	at    time.Time
	list  []string
	table map[string]string
}

// BoolOf returns a known bool.
func BoolOf(b bool) Value {
	v := Value{typ: Bool, known: true}
	if b {
		v.n = 1
	}
	return v
}

// IntOf returns a known int.
func IntOf(i int64) Value { return Value{typ: Int, known: true, n: i} }

// StringOf returns a known string.
func StringOf(s string) Value { return Value{typ: String, known: true, text: s} }

// EnumOf returns a known value of an enumeration; the kind's declaration says
// which values are valid, and the session turns any other into unknown.
func EnumOf(s string) Value { return Value{typ: Enum, known: true, text: s} }

// IdentOf returns a known identifier.
func IdentOf(s string) Value { return Value{typ: Ident, known: true, text: s} }

// PathOf returns a known path, as given.
func PathOf(s string) Value { return Value{typ: Path, known: true, text: s} }

// DurationOf returns a known duration.
func DurationOf(d time.Duration) Value { return Value{typ: Duration, known: true, n: int64(d)} }

// TimeOf returns a known time, in UTC.
func TimeOf(t time.Time) Value { return Value{typ: Time, known: true, at: t.UTC()} }

// StringsOf returns a known list; it keeps a copy.
func StringsOf(ss []string) Value {
	return Value{typ: Strings, known: true, list: append([]string{}, ss...)}
}

// TableOf returns a known table; it keeps a copy.
func TableOf(m map[string]string) Value {
	c := make(map[string]string, len(m))
	maps.Copy(c, m)
	return Value{typ: Table, known: true, table: c}
}

// Unknown returns an unknown value of type t; why says what could not be read.
func Unknown(t Type, why string) Value { return Value{typ: t, text: why} }

// Known reports whether v has a value.
func (v Value) Known() bool { return v.known }

// Type returns the type of v, "" for the zero value.
func (v Value) Type() Type { return v.typ }

// Why returns the reason of an unknown value.
func (v Value) Why() string {
	if v.known {
		return ""
	}
	if v.text == "" {
		return "not read"
	}
	return v.text
}

// Bool returns the value of a bool, false when unknown or of another type; use
// Known where the difference matters.
func (v Value) Bool() bool { return v.typ == Bool && v.n == 1 }

// Int returns the value of an int, 0 when unknown.
func (v Value) Int() int64 {
	if v.typ != Int {
		return 0
	}
	return v.n
}

// Duration returns the value of a duration, 0 when unknown.
func (v Value) Duration() time.Duration {
	if v.typ != Duration {
		return 0
	}
	return time.Duration(v.n)
}

// Time returns the value of a time, zero when unknown.
func (v Value) Time() time.Time { return v.at }

// Strings returns the value of a list, nil when unknown. The caller must not
// change it.
func (v Value) Strings() []string { return v.list }

// Table returns the value of a table, nil when unknown. The caller must not
// change it.
func (v Value) Table() map[string]string { return v.table }

// Text returns the text form of a known value, the form that ParseValue takes,
// and "unknown" for an unknown one.
func (v Value) Text() string {
	if !v.known {
		return "unknown"
	}
	switch v.typ {
	case Bool:
		return strconv.FormatBool(v.Bool())
	case Int:
		return strconv.FormatInt(v.n, 10)
	case Duration:
		return v.Duration().String()
	case Time:
		return v.at.Format(time.RFC3339Nano)
	}
	switch {
	case v.list != nil:
		return fmt.Sprintf("%q", v.list)
	case v.table != nil:
		var out []string
		for _, k := range slices.Sorted(maps.Keys(v.table)) {
			out = append(out, k+"="+v.table[k])
		}
		return strings.Join(out, ", ")
	}
	return v.text
}

// Equal reports whether two values are the same, type and reason included.
func (v Value) Equal(w Value) bool {
	return v.typ == w.typ && v.known == w.known && v.text == w.text && v.n == w.n && v.at.Equal(w.at) &&
		slices.Equal(v.list, w.list) && maps.Equal(v.table, w.table)
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
		return Value{typ: t, known: true, text: text}, nil
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

// Raw returns a known value as the journal writes it, nil for an unknown one.
func (v Value) Raw() json.RawMessage {
	var of any = v.Text()
	switch {
	case !v.known:
		return nil
	case v.list != nil:
		of = v.list
	case v.table != nil:
		of = v.table
	}
	raw, err := json.Marshal(of)
	if err != nil {
		return nil // text always marshals
	}
	return raw
}

// MarshalJSON writes {"t":"duration","v":"2832s"} or
// {"t":"bool","unknown":"timed out after 10s"}.
func (v Value) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{T: v.typ, V: v.Raw(), Unknown: v.Why()})
}

// UnmarshalJSON reads what MarshalJSON writes. A value that cannot be read is
// unknown and says why: one fact of a journal does not make the others unreadable.
// A type that this program does not know is read by its form.
func (v *Value) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*v = Unknown(w.T, w.Unknown)
	if len(w.V) == 0 || bytes.Equal(w.V, []byte("null")) {
		return nil
	}
	got, err := w.value()
	if err != nil {
		got = Unknown(w.T, "could not be read back: "+err.Error())
	}
	*v = got
	return nil
}

func (w wire) value() (Value, error) {
	out := Value{typ: w.T, known: true}
	form := w.V[0]
	switch {
	case w.T == Strings || !w.T.known() && form == '[':
		out.list = []string{}
		return out, json.Unmarshal(w.V, &out.list)
	case w.T == Table || !w.T.known() && form == '{':
		out.table = map[string]string{}
		return out, json.Unmarshal(w.V, &out.table)
	}
	var text string
	if err := json.Unmarshal(w.V, &text); err != nil {
		return Value{}, err
	}
	if !w.T.known() {
		out.text = text
		return out, nil
	}
	return ParseValue(w.T, text)
}

// known reports whether this program knows the type.
func (t Type) known() bool {
	switch t {
	case Bool, Int, String, Enum, Ident, Duration, Time, Strings, Table, Path:
		return true
	}
	return false
}
