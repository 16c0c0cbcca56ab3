package rabbitmq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
)

// binding is one as a broker or a file has it.
type binding struct {
	Source      string          `json:"source"`
	Destination string          `json:"destination"`
	Type        string          `json:"destination_type"`
	Key         string          `json:"routing_key"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
}

// route is what tells bindings apart, but for arguments.
type route struct{ source, destination, kind, key string }

func (b binding) route() route { return route{b.Source, b.Destination, b.Type, b.Key} }

// String implements fmt.Stringer.
func (b binding) String() string {
	to := b.Destination
	if b.Type == toExchange {
		to = "exchange " + to
	}
	text := fmt.Sprintf("%s -> %s (%s)", steps.Clip(b.Source, longestName), steps.Clip(to, longestName), steps.Clip(b.Key, longestName))
	if len(b.Arguments) > 0 && string(b.Arguments) != "{}" {
		text += " " + steps.Clip(string(b.Arguments), 200)
	}
	return text
}

const (
	toQueue    = "queue"
	toExchange = "exchange"
)

// sameForm writes arguments so that equal ones are equal texts: keys in order,
// numbers as they are. nil stays nil.
func sameForm(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var m map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		if bytes.Equal(bytes.TrimSpace(raw), []byte("[]")) { // an empty table of Erlang
			return json.RawMessage("{}"), nil
		}
		return nil, fmt.Errorf("arguments must be a mapping: %w", err)
	}
	if m == nil {
		return nil, nil
	}
	return json.Marshal(m)
}

// match is what came of holding two lists against each other.
type match struct {
	present        int
	missing, extra []binding
}

// hold counts the declared bindings that are there. One that is declared without
// arguments is there whatever arguments it has. What is bound to the exchange
// without a name every queue has by itself, so it is never extra.
func hold(declared, there []binding) match {
	at := map[route][]int{}
	for i, b := range there {
		at[b.route()] = append(at[b.route()], i)
	}
	var m match
	meant := make([]bool, len(there))
	for _, d := range declared {
		found := false
		for _, i := range at[d.route()] {
			if d.Arguments == nil || bytes.Equal(d.Arguments, there[i].Arguments) {
				meant[i], found = true, true
			}
		}
		if found {
			m.present++
		} else {
			m.missing = append(m.missing, d)
		}
	}
	for i, b := range there {
		if !meant[i] && b.Source != "" {
			m.extra = append(m.extra, b)
		}
	}
	return m
}

// absent names the exchanges and queues that are declared to be bound and are
// not there.
func absent(declared []binding, exchanges, queues []string) []string {
	var out []string
	see := func(kind, name string) {
		have := queues
		if kind == toExchange {
			have = exchanges
		}
		if _, found := slices.BinarySearch(have, name); !found {
			out = append(out, kind+" "+steps.Clip(name, longestName))
		}
	}
	for _, d := range declared {
		if d.Source != "" {
			see(toExchange, d.Source)
		}
		see(d.Type, d.Destination)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func texts(list []binding) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = b.String()
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
