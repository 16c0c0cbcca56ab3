// Package record holds the nouns that steps report in and the journal keeps: typed
// values, findings, the lines of a target, owners, debts, and the classes of kinds.
//
// Each has one form in Go and one in JSON, so nothing is converted between a step,
// the journal and the loop. The JSON is the journal's: it does not change.
//
// A [Value] carries its type. What was not read is unknown, with the reason, and so
// is what a journal holds that this program cannot read: unknown is never a value
// that opens a gate. Values are immutable and may be shared.
//
// Nothing here does I/O or asks a clock. Only the standard library stands below.
package record

import (
	"encoding/json"
	"strings"
	"time"
)

// KV is one line of a target: what it is called and what it is.
type KV struct {
	Key   string `json:"k"`
	Value string `json:"v"`
}

// Class says what a kind may do and, for a gate, on which terms the loop opens it
// (docs/decisions.md, Gates).
type Class string

// The classes of kinds. Probe reads through a transport that refuses writes. Heavy
// is a probe that runs a program or rehearses a request: it never starts by itself. The others are gates.
const (
	Probe   Class = "probe"
	Heavy   Class = "heavy"
	Contain Class = "contain"
	Release Class = "release"
	Repair  Class = "repair"
	Rerun   Class = "rerun"
)

// Gate reports whether kinds of this class can change anything.
func (c Class) Gate() bool {
	return c == Contain || c == Release || c == Repair || c == Rerun
}

// Level ranks a finding.
type Level string

// The levels of findings, mildest first.
const (
	Info     Level = "info"
	Warning  Level = "warning"
	Critical Level = "critical"
)

// Finding is a fact worth a human's eye.
type Finding struct {
	Level   Level    `json:"level"`
	Say     string   `json:"say"`
	Against []string `json:"against,omitempty"` // gates that stay shut while it stands
	Doubts  []string `json:"doubts,omitempty"`  // questions whose answers it speaks against
	Unsure  bool     `json:"unsure,omitempty"`  // whether it holds is not known

	// Rule says what found it: the findings of a step in its runbook are numbered from 1.
	// ByKind is the kind of the step itself, 0 a journal that does not tell.
	Rule int `json:"rule,omitempty"`

	// At is when it no longer holds, by the age of what was read alone; zero where
	// time does not end it. Then it takes a new reading.
	At time.Time `json:"at,omitzero"`

	// Blind are the rules that could not be told in the reading that found it. That they still
	// cannot be told says nothing of it. The fold of a journal fills it in.
	Blind []int `json:"-"`
}

// Tells reports whether a finding is critical and shuts no gate: it wants an answer before
// the incident is closed as recovered.
func (f Finding) Tells() bool { return f.Level == Critical && len(f.Against) == 0 && !f.Unsure }

// Restates reports whether a later finding is about what an earlier one was, perhaps with
// other numbers. Of a journal that does not tell the rules every critical one may be.
func (f Finding) Restates(was Finding) bool {
	switch {
	case f.Rule == 0 || was.Rule == 0:
		return f.Level == Critical
	case f.Rule != ByKind || was.Rule != ByKind:
		return f.Rule == was.Rule
	}
	return f.Level == Critical && unnumbered(f.Say) == unnumbered(was.Say)
}

func unnumbered(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// ByKind is the rule of what the kind of a step finds by itself.
const ByKind = -1

// Owner is a controller that writes the target and would undo the act.
type Owner struct {
	Name   string `json:"name"`
	Paused string `json:"paused"` // yes, no or unknown
	How    string `json:"how,omitempty"`
}

// Debt is what an act leaves owing.
type Debt struct {
	Kind string // reconcile, resume or unfinished
	Text string
	Due  time.Duration // from the act; 0 for no time
	Item string        // which item of a batch owes it, "" for the act as a whole
}

type debt struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Due  string `json:"due,omitempty"`
	Item string `json:"item,omitempty"`
}

// MarshalJSON writes Due as a Go duration, and leaves it out where there is none.
func (d Debt) MarshalJSON() ([]byte, error) {
	out := debt{Kind: d.Kind, Text: d.Text, Item: d.Item}
	if d.Due > 0 {
		out.Due = d.Due.String()
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes, and Due as nanoseconds, which an
// executor of an earlier handrail leaves. A Due that is neither is none.
func (d *Debt) UnmarshalJSON(b []byte) error {
	var in struct {
		debt
		Due any `json:"due"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*d = Debt{Kind: in.Kind, Text: in.Text, Item: in.Item}
	switch due := in.Due.(type) {
	case string:
		if got, err := time.ParseDuration(due); err == nil {
			d.Due = got
		}
	case float64:
		d.Due = time.Duration(due)
	}
	return nil
}
