package tfstate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"handrail/steps"
	"handrail/steps/terraform/jsonscan"
)

// Limits of what is listed of a comparison; counts stay exact.
const (
	maxListed  = 1000
	maxDetails = 50 // instances whose changed attributes are named
	maxNames   = 40 // attributes named for each
)

// Diff is how After differs from Before.
type Diff struct {
	Before, After *Doc

	Missing, Added, Changed, Moved int // instances
	Bookkeeping                    int // of those in both: private data, dependencies or schema version alone

	MissingList []string
	AddedList   []string
	ChangedList []string
	MovedList   []Move
	Attributes  map[string][]string // of the first changed ones: names of top-level attributes, never values
	Outputs     bool                // they differ

	LineageChanged bool
	Collision      bool // same lineage and serial, other content: two writers
	Regressed      bool // same lineage, lower serial
	ToolChanged    bool
}

// Move is one object that went to another address.
type Move struct{ From, To string }

// Same says whether both record the same.
func (d *Diff) Same() bool {
	return d.Missing == 0 && d.Added == 0 && d.Changed == 0 && d.Moved == 0 && d.Bookkeeping == 0 && !d.Outputs
}

// identity is what tells that an instance is the same under another address.
type identity struct {
	typ string
	sum Sum
}

// comparer compares two states in passes over both, so that it need not keep the
// addresses of what is equal.
type comparer struct {
	diff    *Diff
	first   index
	added   []string           // addresses, deposed ones with their key
	addedAs map[identity][]int // index in added, by content and by id
	gone    map[int]bool       // added ones that are moves
	seen    map[short]struct{}
	known   Expected
}

// Expected is what a comparison takes for no difference: what a plan has done
// already in the copy of the state that it holds.
type Expected struct {
	Moved map[string]string // address in After to the one in Before
	Extra map[string]bool   // addresses that only Before has
}

func (c *comparer) before(r io.ReadSeeker, visit func(*Instance) error) (*Doc, error) {
	return c.pass(r, func(i *Instance) error {
		if i.Deposed == "" && c.known.Extra[i.Address] {
			return nil
		}
		return visit(i)
	})
}

func (c *comparer) after(r io.ReadSeeker, visit func(*Instance) error) (*Doc, error) {
	return c.pass(r, func(i *Instance) error {
		if as, ok := c.known.Moved[i.Address]; ok {
			moved := *i
			moved.Address = as
			i = &moved
		}
		return visit(i)
	})
}

// Compare reads both states, each more than once. Neither needs to be sound, but
// where one is not Usable nothing is said of the instances.
func Compare(before, after io.ReadSeeker) (*Diff, error) {
	return CompareAs(before, after, Expected{})
}

// CompareAs is Compare, but for what is expected.
func CompareAs(before, after io.ReadSeeker, known Expected) (*Diff, error) {
	c := &comparer{known: known, diff: &Diff{Attributes: map[string][]string{}}, addedAs: map[identity][]int{}, gone: map[int]bool{}, seen: map[short]struct{}{}}
	d := c.diff
	var err error
	if d.Before, err = c.before(before, func(i *Instance) error {
		c.first.add(key(i), i.Sum, i.Rest)
		return nil
	}); err != nil {
		return nil, err
	}
	c.first.sort()
	if d.After, err = c.after(after, c.second); err != nil {
		return nil, err
	}
	c.versions()
	if !d.Before.Usable() || !d.After.Usable() {
		return &Diff{Before: d.Before, After: d.After, Attributes: d.Attributes, LineageChanged: d.LineageChanged, Regressed: d.Regressed, ToolChanged: d.ToolChanged}, nil
	}
	if d.Outputs = d.Before.OutputSum != d.After.OutputSum; d.Before.Outputs == 0 && d.After.Outputs == 0 {
		d.Outputs = false
	}
	if len(c.added) > 0 || d.Changed > 0 || c.first.unseen() {
		if _, err = c.before(before, c.third); err != nil {
			return nil, err
		}
		if err := c.attributes(before, after); err != nil {
			return nil, err
		}
	}
	for i, address := range c.added {
		if !c.gone[i] {
			d.Added++
			d.AddedList = listed(d.AddedList, address)
		}
	}
	d.Collision = !d.LineageChanged && d.Before.HasSerial && d.After.HasSerial && d.Before.Serial == d.After.Serial && !d.Same()
	return d, nil
}

func (c *comparer) versions() {
	d, b, a := c.diff, c.diff.Before, c.diff.After
	d.LineageChanged = b.Lineage != "" && a.Lineage != "" && b.Lineage != a.Lineage
	d.Regressed = !d.LineageChanged && b.HasSerial && a.HasSerial && a.Serial < b.Serial
	d.ToolChanged = b.Tool != "" && a.Tool != "" && b.Tool != a.Tool
}

func (c *comparer) pass(r io.ReadSeeker, visit func(*Instance) error) (*Doc, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return Read(r, Options{Sums: true, Visit: visit, seen: c.seen})
}

func key(i *Instance) Sum {
	h := sha256.Sum256([]byte(i.Address + "\x00" + i.Deposed))
	return Sum(h[:])
}

func named(i *Instance) string {
	if i.Deposed != "" {
		return i.Address + " (deposed " + steps.Clip(i.Deposed, 20) + ")"
	}
	return i.Address
}

func listed(list []string, s string) []string {
	if len(list) < maxListed {
		return append(list, s)
	}
	return list
}

func (c *comparer) second(i *Instance) error {
	e, number := c.first.find(key(i))
	if e == nil {
		n := len(c.added)
		c.added = append(c.added, named(i))
		if i.Mode == "managed" {
			for _, t := range things(i) {
				c.addedAs[t] = append(c.addedAs[t], n)
			}
		}
		return nil
	}
	c.first.seen[number] = true
	switch {
	case e.sum != short(i.Sum[:]):
		c.diff.Changed++
		c.diff.ChangedList = listed(c.diff.ChangedList, named(i))
	case e.rest != [8]byte(i.Rest[:]):
		c.diff.Bookkeeping++
	}
	return nil
}

// third finds what of the first state is missing in the second, and where it
// went.
func (c *comparer) third(i *Instance) error {
	if e, number := c.first.find(key(i)); e != nil && c.first.seen[number] {
		return nil
	}
	if i.Mode == "managed" {
		for _, t := range things(i) {
			for _, n := range c.addedAs[t] {
				if c.gone[n] {
					continue
				}
				c.gone[n] = true
				c.diff.Moved++
				if len(c.diff.MovedList) < maxListed {
					c.diff.MovedList = append(c.diff.MovedList, Move{From: named(i), To: c.added[n]})
				}
				return nil
			}
		}
	}
	c.diff.Missing++
	c.diff.MissingList = listed(c.diff.MissingList, named(i))
	return nil
}

// things returns what identifies an instance but for its address: its id first,
// since a move may come with a change.
func things(i *Instance) []identity {
	out := []identity{}
	if id := ID(i.Attributes); id != "" {
		h := sha256.Sum256([]byte("id\x00" + id))
		out = append(out, identity{i.Type, Sum(h[:])})
	}
	return append(out, identity{i.Type, i.Sum})
}

// ID returns the attribute id of an instance, "" for none.
func ID(attributes []byte) string {
	id := ""
	s := jsonscan.New(bytes.NewReader(attributes))
	_, _ = s.ObjectOr(func(key string) (err error) {
		if key == "id" {
			id, _, err = s.TextOr(4096)
			return err
		}
		return s.Skip()
	})
	return id
}

// attributes names what changed in the first of the changed instances.
func (c *comparer) attributes(before, after io.ReadSeeker) error {
	want := map[string]map[string]json.RawMessage{}
	for _, a := range c.diff.ChangedList[:min(len(c.diff.ChangedList), maxDetails)] {
		want[a] = nil
	}
	if len(want) == 0 {
		return nil
	}
	if _, err := c.before(before, func(i *Instance) error {
		if _, ok := want[named(i)]; ok {
			var m map[string]json.RawMessage
			if json.Unmarshal(i.Attributes, &m) == nil {
				want[named(i)] = m
			}
		}
		return nil
	}); err != nil {
		return err
	}
	_, err := c.after(after, func(i *Instance) error {
		old, ok := want[named(i)]
		var m map[string]json.RawMessage
		if !ok || old == nil || json.Unmarshal(i.Attributes, &m) != nil {
			return nil
		}
		c.diff.Attributes[named(i)] = differing(old, m)
		return nil
	})
	return err
}

func differing(a, b map[string]json.RawMessage) []string {
	var out []string
	for name, v := range a {
		if w, ok := b[name]; !ok || content(v) != content(w) {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	if len(out) > maxNames {
		out = append(out[:maxNames], fmt.Sprintf("and %d more", len(out)-maxNames))
	}
	return out
}

func content(raw []byte) Sum {
	h := sha256.New()
	c := jsonscan.Compactor{To: h}
	c.Write(raw)
	return Sum(h.Sum(nil))
}
