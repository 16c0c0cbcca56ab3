package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfstate"
)

// Ledger is a state as a gate takes it: the stored bytes, and what they record.
type Ledger struct {
	Where   string
	Written time.Time
	Version string // of the backend, "" where it has none
	Broken  bool   // no program reads it
	Raw     []byte
	Doc     *tfstate.Doc
	Entries []Entry
}

// Entry is one recorded object: the current one of an address, or a deposed one.
type Entry struct {
	Address  string
	resource string // the address without its key
	Deposed  string
	Type     string
	Mode     string
	ID       string      // attribute id, "" for none
	is       tfstate.Sum // attributes and status
	rest     tfstate.Sum // bookkeeping
}

// name tells an entry from every other of its state.
func (e Entry) name() string {
	if e.Deposed != "" {
		return e.Address + " (deposed " + steps.Clip(e.Deposed, 20) + ")"
	}
	return e.Address
}

// ErrAbsent says that there is no state to change.
var ErrAbsent = errors.New("no state is recorded")

// ErrEmpty says that the state has 0 bytes, as a first run leaves it on a local backend
// that ended before it saved. The tools take it for no state.
var ErrEmpty = errors.New("the state has 0 bytes")

// ReadLedger reads the present state whole. The error says why nothing that it
// records can be relied on; raw is then what could be read.
func ReadLedger(ctx context.Context, s backend.Store, secret func(string)) (Ledger, error) {
	r, err := s.State(ctx)
	l := Ledger{Where: r.Where, Written: r.Written, Version: r.Version}
	switch {
	case err != nil:
		return l, err
	case !r.Exists:
		return l, fmt.Errorf("%w at %s", ErrAbsent, r.Where)
	case r.Body == nil:
		l.Raw, l.Broken = r.Stored, !r.Split
		return l, fmt.Errorf("the state at %s cannot be read: %s", r.Where, r.Broken)
	}
	defer r.Body.Close()
	err = l.Fill(ctx, r.Body, secret)
	return l, err
}

// Fill reads the bytes of a state and what they record.
func (l *Ledger) Fill(ctx context.Context, body io.Reader, secret func(string)) error {
	var err error
	if l.Raw, err = io.ReadAll(module.Until(ctx, io.LimitReader(body, backend.MaxHeld+1))); err != nil {
		return fmt.Errorf("%s: %w", l.Where, err)
	}
	if len(l.Raw) > backend.MaxHeld {
		l.Raw = nil
		return fmt.Errorf("%s is over %d MB, more than handrail changes; do it by hand, with a copy of the state", l.Where, backend.MaxHeld>>20)
	}
	// The first pass names the secrets, the outputs among them; sums exclude that.
	if _, err = tfstate.Read(bytes.NewReader(l.Raw), tfstate.Options{Secret: secret}); err != nil {
		return err
	}
	l.Doc, err = tfstate.Read(bytes.NewReader(l.Raw), tfstate.Options{Sums: true, Visit: func(i *tfstate.Instance) error {
		e := Entry{Address: i.Address, Deposed: i.Deposed, Type: i.Type, Mode: i.Mode, ID: tfstate.ID(i.Attributes), is: i.Sum, rest: i.Rest}
		e.resource = i.Type + "." + i.Name
		if i.Mode == "data" {
			e.resource = "data." + e.resource
		}
		if i.Module != "" {
			e.resource = i.Module + "." + e.resource
		}
		l.Entries = append(l.Entries, e)
		return ctx.Err()
	}})
	switch {
	case err != nil:
		return err
	case l.Doc.Encrypted:
		return fmt.Errorf("%s is encrypted by tofu: what it records cannot be seen", l.Where)
	case len(l.Doc.Faults) > 0:
		l.Broken = l.Doc.Condition() != tfstate.OldFormat
		if l.Doc.Condition() == tfstate.Empty {
			return fmt.Errorf("%s is not sound: %w", l.Where, ErrEmpty)
		}
		return fmt.Errorf("%s is not sound: %s", l.Where, l.Doc.Faults[0].Say)
	case l.Doc.BeyondSerial != "":
		return fmt.Errorf("%s has the serial %s, which is larger than handrail counts: change it by hand, with a copy of the state", l.Where, l.Doc.BeyondSerial)
	case l.Doc.Lineage == "":
		return fmt.Errorf("%s has no lineage: it cannot be told from another state", l.Where)
	}
	return nil
}

// At returns what is recorded under an address, deposed objects too.
func (l Ledger) At(address string) []Entry {
	var out []Entry
	for _, e := range l.Entries {
		if e.Address == address {
			out = append(out, e)
		}
	}
	return out
}

// Resource returns the entries of a resource, whatever their keys.
func (l Ledger) Resource(name string) []Entry {
	var out []Entry
	for _, e := range l.Entries {
		if e.resource == name {
			out = append(out, e)
		}
	}
	return out
}

// Sum identifies the stored bytes.
func (l Ledger) Sum() string {
	sum := sha256.Sum256(l.Raw)
	return hex.EncodeToString(sum[:])
}

// Without returns what is recorded elsewhere than under the addresses.
func Without(entries []Entry, addresses ...string) []Entry {
	gone := make(map[string]bool, len(addresses))
	for _, a := range addresses {
		gone[a] = true
	}
	var out []Entry
	for _, e := range entries {
		if !gone[e.Address] {
			out = append(out, e)
		}
	}
	return out
}

// Sum identifies what entries record, in any order, without the bookkeeping
// that the tools rewrite.
func Sum(entries []Entry) string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = e.Address + "\x00" + e.Deposed + "\x00" + string(e.is[:])
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// Delta is how what is recorded differs from what was expected.
type Delta struct{ gone, came, changed []string }

// Compare says how what is recorded differs from what was expected.
func Compare(want, got []Entry) Delta {
	var d Delta
	seen := make(map[string]tfstate.Sum, len(want))
	for _, e := range want {
		seen[e.name()] = e.is
	}
	for _, e := range got {
		is, known := seen[e.name()]
		delete(seen, e.name())
		switch {
		case !known:
			d.came = append(d.came, e.name())
		case is != e.is:
			d.changed = append(d.changed, e.name())
		}
	}
	for name := range seen {
		d.gone = append(d.gone, name)
	}
	slices.Sort(d.gone)
	return d
}

// None reports whether nothing differs.
func (d Delta) None() bool { return len(d.gone)+len(d.came)+len(d.changed) == 0 }

// String lists the differences, each with its address.
func (d Delta) String() string {
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"is gone too", d.gone}, {"appeared", d.came}, {"changed", d.changed}} {
		for i, n := range p.names {
			if i == 20 {
				parts = append(parts, fmt.Sprintf("and %d more like it", len(p.names)-i))
				break
			}
			parts = append(parts, steps.Clip(n, 300)+" "+p.what)
		}
	}
	return strings.Join(parts, "; ")
}

// Time is when the state was written, for people.
func (l Ledger) Time() string {
	if l.Written.IsZero() {
		return "at an unknown time"
	}
	return prose.UTC(l.Written)
}
