package steps

import (
	"time"

	"handrail/triage/record"
)

// The nouns of the contract are those of the journal.
type (
	Value   = record.Value
	Type    = record.Type
	KV      = record.KV
	Owner   = record.Owner
	Debt    = record.Debt
	Item    = record.Item
	Finding = record.Finding
	Level   = record.Level
	Class   = record.Class
)

// The types of values ([record.Type]).
const (
	Bool     = record.Bool
	Int      = record.Int
	String   = record.String
	Enum     = record.Enum
	Ident    = record.Ident
	Duration = record.Duration
	Time     = record.Time
	Strings  = record.Strings
	Table    = record.Table
	Path     = record.Path
)

// The classes of kinds ([record.Class]).
const (
	Probe   = record.Probe
	Heavy   = record.Heavy
	Contain = record.Contain
	Release = record.Release
	Repair  = record.Repair
	Rerun   = record.Rerun
)

// The levels of findings ([record.Level]).
const (
	Info     = record.Info
	Warning  = record.Warning
	Critical = record.Critical
)

// BoolOf returns a known bool.
func BoolOf(b bool) Value { return record.BoolOf(b) }

// IntOf returns a known int.
func IntOf(i int64) Value { return record.IntOf(i) }

// StringOf returns a known string.
func StringOf(s string) Value { return record.StringOf(s) }

// EnumOf returns a known value of an enumeration.
func EnumOf(s string) Value { return record.EnumOf(s) }

// IdentOf returns a known identifier.
func IdentOf(s string) Value { return record.IdentOf(s) }

// PathOf returns a known path, as given.
func PathOf(s string) Value { return record.PathOf(s) }

// DurationOf returns a known duration.
func DurationOf(d time.Duration) Value { return record.DurationOf(d) }

// TimeOf returns a known time, in UTC.
func TimeOf(t time.Time) Value { return record.TimeOf(t) }

// StringsOf returns a known list; it keeps a copy.
func StringsOf(ss []string) Value { return record.StringsOf(ss) }

// TableOf returns a known table; it keeps a copy.
func TableOf(m map[string]string) Value { return record.TableOf(m) }

// Unknown returns an unknown value of type t; why says what could not be read.
func Unknown(t Type, why string) Value { return record.Unknown(t, why) }

// ParseValue reads the text form of a scalar of type t.
func ParseValue(t Type, text string) (Value, error) { return record.ParseValue(t, text) }
