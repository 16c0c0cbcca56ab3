package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handrail/triage"
)

// The names of the cache carry their version: another version reads none of it.
const (
	rowsName  = "rows-6"
	rowsMagic = "handrail rows 6\n"
	// maxRows bounds what is read of a cache; a larger one is not used.
	maxRows = 256 << 20
)

// Rows lists the incidents of the store, the newest first. A bundle that
// cannot be read is a row with Err set, never left out.
func (s Store) Rows() ([]Row, error) {
	all, err := s.refresh()
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(all))
	for i := range all {
		rows[i] = all[i].row
	}
	return rows, nil
}

// refresh gives the row and stamp of each bundle as it is now. What the cache
// knows of a bundle that did not change is taken from there.
func (s Store) refresh() ([]bundleContents, error) {
	names, err := bundleNames(s.dir)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, nil
	}
	known := s.loadRows()
	marks, err := newMarker(s.dir)
	if err != nil {
		return nil, fmt.Errorf("listing bundles: %w", err)
	}
	defer marks.close()
	out := make([]bundleContents, len(names))
	fresh := make([]bool, len(names))
	parallel(len(names), func(i int) {
		old, ok := known[names[i]]
		if ok {
			if now := marks.stampOf(names[i], old.stamp.segments); now.same(old.stamp) {
				out[i] = old
				out[i].row.Path = s.dir + string(filepath.Separator) + names[i]
				return
			}
		}
		out[i], fresh[i] = gather(s.dir, names[i], false), true
	})
	changed := len(known) != len(names)
	for i := range fresh {
		changed = changed || fresh[i]
	}
	if changed {
		s.saveRows(out)
	}
	return out, nil
}

// loadRows reads the cache of rows; one that is no good knows nothing.
func (s Store) loadRows() map[string]bundleContents {
	if s.cache == "" {
		return nil
	}
	name := filepath.Join(s.cache, rowsName)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRows {
		return nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	rows, err := decodeRows(raw)
	if err != nil {
		_ = os.Remove(name) // it is a cache, and no good
		return nil
	}
	return rows
}

// saveRows keeps what was found. A cache that cannot be written costs time and
// nothing else.
func (s Store) saveRows(all []bundleContents) {
	if s.cache == "" {
		return
	}
	_ = replace(s.cache, rowsName, encodeRows(all))
}

// replace puts a file in place, whole or not at all. It is not synced: what a
// power cut leaves is noticed by its sum.
func replace(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".tmp-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// encodeRows leaves out bundles that could not be read, or not be stamped: they
// are looked at again each time.
func encodeRows(all []bundleContents) []byte {
	var e encoder
	n := 0
	for _, g := range all {
		if g.row.Err == "" && g.stamp.segments > 0 {
			n++
		}
	}
	e.num(uint64(n))
	for _, g := range all {
		if g.row.Err == "" && g.stamp.segments > 0 {
			e.text(g.name)
			e.num(uint64(g.stamp.segments))
			e.text(g.stamp.marks)
			e.row(g.row)
		}
	}
	sum := sumOf(e.b)
	return append(append([]byte(rowsMagic), sum[:]...), e.b...)
}

func decodeRows(raw []byte) (map[string]bundleContents, error) {
	body, ok := strings.CutPrefix(string(raw), rowsMagic)
	if !ok || len(body) < sumLen {
		return nil, errDamaged
	}
	sum, body := body[:sumLen], body[sumLen:]
	if want := sumOf(raw[len(rowsMagic)+sumLen:]); string(want[:]) != sum {
		return nil, errDamaged
	}
	return decodeRowList(body)
}

func decodeRowList(body string) (map[string]bundleContents, error) {
	d := decoder{s: body}
	n := d.count()
	out := make(map[string]bundleContents)
	for range n {
		g := bundleContents{name: d.text(), stamp: stamp{segments: d.count(), marks: d.text()}}
		g.row = d.row()
		if d.err != nil {
			return nil, d.err
		}
		out[g.name] = g
	}
	return out, d.done()
}

func (e *encoder) time(t time.Time) {
	e.flag(!t.IsZero())
	if !t.IsZero() {
		e.int(t.Unix())
		e.num(uint64(t.Nanosecond()))
	}
}

func (d *decoder) time() time.Time {
	if !d.flag() {
		return time.Time{}
	}
	sec, ns := d.int(), d.num()
	if ns >= 1e9 {
		d.fail()
		return time.Time{}
	}
	return time.Unix(sec, int64(ns)).UTC()
}

func (e *encoder) row(r Row) {
	for _, s := range []string{r.ID, r.Title, r.Runbook, string(r.Severity), string(r.Phase), r.Failure, r.Outcome, r.Drill, r.Kind, r.Opener, r.Operator} {
		e.text(s)
	}
	for _, s := range r.Target.fields() {
		e.text(*s)
	}
	e.num(uint64(len(r.Runbooks)))
	for _, s := range r.Runbooks {
		e.text(s)
	}
	e.flag(r.Sealed)
	e.time(r.Opened)
	e.time(r.Updated)
	e.time(r.Closed)
	e.int(r.Entries)
	e.int(r.OpenSeq)
	e.num(uint64(len(r.Debts)))
	for _, b := range r.Debts {
		e.debt(b)
	}
	e.num(uint64(len(r.Acts)))
	for _, a := range r.Acts {
		for _, s := range []string{a.Step, a.Uses, string(a.Class), a.Outcome, a.Effect, a.Command, a.Actor, a.As} {
			e.text(s)
		}
		e.int(a.Seq)
		e.time(a.At)
		e.num(uint64(len(a.Target)))
		for _, kv := range a.Target {
			e.text(kv.Key)
			e.text(kv.Value)
		}
		e.num(uint64(len(a.Grounds)))
		for _, g := range a.Grounds {
			e.text(g.Step)
			e.int(g.Seq)
			e.text(g.Who)
			e.text(g.Text)
		}
	}
}

func (d *decoder) row() Row {
	r := Row{ID: d.text(), Title: d.text(), Runbook: d.text(), Severity: triage.Severity(d.text()), Phase: triage.Phase(d.text()),
		Failure: d.text(), Outcome: d.text(), Drill: d.text(), Kind: d.text(), Opener: d.text(), Operator: d.text()}
	for _, s := range r.Target.fields() {
		*s = d.text()
	}
	for range d.count() {
		r.Runbooks = append(r.Runbooks, d.text())
	}
	r.Sealed, r.Opened, r.Updated, r.Closed, r.Entries, r.OpenSeq = d.flag(), d.time(), d.time(), d.time(), d.int(), d.int()
	for range d.count() {
		r.Debts = append(r.Debts, d.debt())
	}
	for range d.count() {
		a := Act{Step: d.text(), Uses: d.text(), Class: triage.Class(d.text()), Outcome: d.text(), Effect: d.text(), Command: d.text(), Actor: d.text(), As: d.text(), Seq: d.int(), At: d.time()}
		for range d.count() {
			a.Target = append(a.Target, triage.KV{Key: d.text(), Value: d.text()})
		}
		for range d.count() {
			a.Grounds = append(a.Grounds, Ground{Step: d.text(), Seq: d.int(), Who: d.text(), Text: d.text()})
		}
		r.Acts = append(r.Acts, a)
	}
	return r
}

func (e *encoder) debt(b triage.Debt) {
	s := b.Settled
	for _, t := range []string{b.ID, b.Kind, b.Of, b.Text, s.Debt, s.How, s.Proof, s.Owner, s.Until, s.Person, s.Why} {
		e.text(t)
	}
	e.int(b.Seq)
	var due time.Time
	if b.Due != nil {
		due = *b.Due
	}
	e.time(due)
}

func (d *decoder) debt() triage.Debt {
	b := triage.Debt{DebtOpened: triage.DebtOpened{ID: d.text(), Kind: d.text(), Of: d.text(), Text: d.text()},
		Settled: triage.Settle{Debt: d.text(), How: d.text(), Proof: d.text(), Owner: d.text(), Until: d.text(), Person: d.text(), Why: d.text()},
		Seq:     d.int()}
	if due := d.time(); !due.IsZero() {
		b.Due = &due
	}
	return b
}
