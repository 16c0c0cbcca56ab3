package terraform

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

	"handrail/steps/terraform/tfstate"
)

// ledger is a state as a gate takes it: the stored bytes, and what they record.
type ledger struct {
	where   string
	written time.Time
	version string // of the backend, "" where it has none
	broken  bool   // no program reads it
	raw     []byte
	doc     *tfstate.Doc
	entries []entry
}

// entry is one recorded object: the current one of an address, or a deposed one.
type entry struct {
	address  string
	resource string // the address without its key
	deposed  string
	typ      string
	mode     string
	id       string      // attribute id, "" for none
	is       tfstate.Sum // attributes and status
	rest     tfstate.Sum // bookkeeping
}

// name tells an entry from every other of its state.
func (e entry) name() string {
	if e.deposed != "" {
		return e.address + " (deposed " + clip(e.deposed, 20) + ")"
	}
	return e.address
}

// errNoLedger says that there is no state to change.
var errNoLedger = errors.New("no state is recorded")

// readLedger reads the present state whole. The error says why nothing that it
// records can be relied on; raw is then what could be read.
func readLedger(ctx context.Context, s store, secret func(string)) (ledger, error) {
	r, err := s.state(ctx)
	l := ledger{where: r.where, written: r.written, version: r.version}
	switch {
	case err != nil:
		return l, err
	case !r.exists:
		return l, fmt.Errorf("%w at %s", errNoLedger, r.where)
	case r.body == nil:
		l.raw, l.broken = r.stored, !r.split
		return l, fmt.Errorf("the state at %s cannot be read: %s", r.where, r.broken)
	}
	defer r.body.Close()
	err = l.fill(ctx, r.body, secret)
	return l, err
}

// fill reads the bytes of a state and what they record.
func (l *ledger) fill(ctx context.Context, body io.Reader, secret func(string)) error {
	var err error
	if l.raw, err = io.ReadAll(bounded(ctx, io.LimitReader(body, maxLedger+1))); err != nil {
		return fmt.Errorf("%s: %w", l.where, err)
	}
	if len(l.raw) > maxLedger {
		l.raw = nil
		return fmt.Errorf("%s is over %d MB, more than handrail changes; do it by hand, with a copy of the state", l.where, maxLedger>>20)
	}
	// The first pass names the secrets, the outputs among them; sums exclude that.
	if _, err = tfstate.Read(bytes.NewReader(l.raw), tfstate.Options{Secret: secret}); err != nil {
		return err
	}
	l.doc, err = tfstate.Read(bytes.NewReader(l.raw), tfstate.Options{Sums: true, Visit: func(i *tfstate.Instance) error {
		e := entry{address: i.Address, deposed: i.Deposed, typ: i.Type, mode: i.Mode, id: tfstate.ID(i.Attributes), is: i.Sum, rest: i.Rest}
		e.resource = i.Type + "." + i.Name
		if i.Mode == "data" {
			e.resource = "data." + e.resource
		}
		if i.Module != "" {
			e.resource = i.Module + "." + e.resource
		}
		l.entries = append(l.entries, e)
		return ctx.Err()
	}})
	switch {
	case err != nil:
		return err
	case l.doc.Encrypted:
		return fmt.Errorf("%s is encrypted by tofu: what it records cannot be seen", l.where)
	case len(l.doc.Faults) > 0:
		l.broken = l.doc.Condition() != tfstate.OldFormat
		return fmt.Errorf("%s is not sound: %s", l.where, l.doc.Faults[0].Say)
	case l.doc.BeyondSerial != "":
		return fmt.Errorf("%s has the serial %s, which is larger than handrail counts: change it by hand, with a copy of the state", l.where, l.doc.BeyondSerial)
	case l.doc.Lineage == "":
		return fmt.Errorf("%s has no lineage: it cannot be told from another state", l.where)
	}
	return nil
}

// at returns what is recorded under an address, deposed objects too.
func (l ledger) at(address string) []entry {
	var out []entry
	for _, e := range l.entries {
		if e.address == address {
			out = append(out, e)
		}
	}
	return out
}

// resource returns the entries of a resource, whatever their keys.
func (l ledger) resource(name string) []entry {
	var out []entry
	for _, e := range l.entries {
		if e.resource == name {
			out = append(out, e)
		}
	}
	return out
}

// sum identifies the stored bytes.
func (l ledger) sum() string {
	sum := sha256.Sum256(l.raw)
	return hex.EncodeToString(sum[:])
}

// without returns what is recorded elsewhere than under the addresses.
func without(entries []entry, addresses ...string) []entry {
	gone := make(map[string]bool, len(addresses))
	for _, a := range addresses {
		gone[a] = true
	}
	var out []entry
	for _, e := range entries {
		if !gone[e.address] {
			out = append(out, e)
		}
	}
	return out
}

// sumOf identifies what entries record, in any order, without the bookkeeping
// that the tools rewrite.
func sumOf(entries []entry) string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = e.address + "\x00" + e.deposed + "\x00" + string(e.is[:])
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// delta is how what is recorded differs from what was expected.
type delta struct{ gone, came, changed []string }

func compareEntries(want, got []entry) delta {
	var d delta
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

func (d delta) none() bool { return len(d.gone)+len(d.came)+len(d.changed) == 0 }

func (d delta) String() string {
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
			parts = append(parts, clip(n, 300)+" "+p.what)
		}
	}
	return strings.Join(parts, "; ")
}

func (l ledger) time() string {
	if l.written.IsZero() {
		return "at an unknown time"
	}
	return utc(l.written)
}
