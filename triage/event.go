package triage

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"handrail/triage/record"
)

// Event is one entry of the journal as the loop sees it.
type Event struct {
	Seq   int64
	At    time.Time
	Actor string // who was at the keyboard, proven
	Body  Body
}

// Body is the payload of an event (docs/decisions.md, Events). Step ids in it are
// `<runbook>/<step>`.
type Body interface {
	// Type is its name in the journal.
	Type() string
	// fold applies it. It checks all of it before it writes anything.
	fold(f *folder) error
	// moment says in one line what happened, once it is folded. The text of others
	// goes in as it is.
	moment(f *folder) Moment
}

// Group is a sort of events by which a timeline is searched.
type Group string

// The groups of events.
const (
	InCall   Group = "call"   // who is there, how bad it is, where the call stands
	InReads  Group = "reads"  // what was read
	InWords  Group = "words"  // what a person answered or concluded
	InGates  Group = "gates"  // gates, acts and what they owe
	InDetail Group = "detail" // found among all of them alone
)

// EventType is what there is to know of a type of event without one at hand.
type EventType struct {
	Type   string
	Group  Group
	decode func(data []byte) (Body, error)
	body   reflect.Type
}

// EventTypes lists every type of event. TestEveryEventIsListed fails where one is
// not.
func EventTypes() []EventType {
	return []EventType{
		in[Open](InCall), in[Person](InCall), in[Handover](InCall), in[Plan](InCall), in[PhaseSet](InCall),
		in[SeveritySet](InCall), in[SeverityAsk](InCall), in[Note](InCall), in[Correct](InCall), in[Component](InCall), in[Close](InCall),
		in[ProbeStart](InDetail), in[ProbeEnd](InReads), in[FindingsSet](InDetail), in[FindingAnswer](InWords), in[DriftAnswer](InWords),
		in[Answer](InWords), in[Manual](InWords), in[Conclude](InWords), in[Skip](InWords), in[Waive](InWords),
		in[GateShown](InGates), in[GateAnswered](InGates), in[GateClosed](InGates), in[Approve](InGates),
		in[ActStart](InGates), in[ActEnd](InGates), in[ActAgain](InGates), in[HandAct](InGates), in[DebtOpened](InGates), in[Settle](InGates),
	}
}

func in[T Body](group Group) EventType {
	var none T
	typ := none.Type()
	return EventType{Type: typ, Group: group, body: reflect.TypeFor[T](), decode: func(data []byte) (Body, error) {
		var v T
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, fmt.Errorf("reading a %s event: %w", typ, err)
		}
		return v, nil
	}}
}

// byName and byBody find a type of event.
var (
	byName = sync.OnceValue(func() map[string]EventType {
		out := map[string]EventType{}
		for _, e := range EventTypes() {
			out[e.Type] = e
		}
		return out
	})
	byBody = sync.OnceValue(func() map[reflect.Type]EventType {
		out := map[reflect.Type]EventType{}
		for _, e := range EventTypes() {
			out[e.body] = e
		}
		return out
	})
)

// IsEvent reports whether an entry of a type is an event of the loop.
func IsEvent(typ string) bool { _, ok := byName()[typ]; return ok }

// GroupOf is the group of a type of event, "" for any other entry.
func GroupOf(typ string) Group { return byName()[typ].Group }

// eventOf is the type of a payload. A pointer to one is none.
func eventOf(b Body) (EventType, bool) {
	e, ok := byBody()[reflect.TypeOf(b)]
	return e, ok
}

// What an event says of values, targets and findings is in the words of
// [record].
type (
	Value   = record.Value
	KV      = record.KV
	Finding = record.Finding
	Owner   = record.Owner
	Item    = record.Item
	Owed    = record.Debt // a debt that an act will open; [Debt] is one that is open
)

// ErrUnknownType is returned by Decode for a type that is neither an event of
// the loop nor one of the store's own.
var ErrUnknownType = errors.New("unknown event type")

// Decode reads the payload of an entry. The store's own entries (env,
// checkpoint, reveal, recover, seal, reopen) give a nil Body, which the fold
// ignores. Unknown fields inside a known type are tolerated (docs/decisions.md, Envelope
// and data).
func Decode(typ string, data []byte) (Body, error) {
	switch typ {
	case "env", "checkpoint", "reveal", "recover", "seal", "reopen":
		return nil, nil
	}
	e, ok := byName()[typ]
	if !ok {
		return nil, fmt.Errorf("%w %q", ErrUnknownType, typ)
	}
	return e.decode(data)
}
