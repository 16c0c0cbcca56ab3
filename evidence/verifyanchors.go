package evidence

import (
	"fmt"
	"slices"
)

// anchors proves that the bundle extends each line that was kept, by the recomputed root at its size. It reports
// whether one of them covers every entry.
func (v *verifier) anchors() (whole bool) {
	for _, a := range v.policy.Anchors {
		if err := v.holds(a, v.roots); err != nil {
			v.say(PropertyAnchor, Failed, "%s: %v", a.Line(), err)
			continue
		}
		whole = whole || a.Entries == v.report.Entries
		v.say(PropertyAnchor, Proven, "the first %d entries were there, as they are, when %q was posted", a.Entries, a.Line())
	}
	v.recorded()
	return whole
}

func (v *verifier) holds(a Checkpoint, roots map[int64]Checkpoint) error {
	switch {
	case a.ID != v.id:
		return fmt.Errorf("it is of bundle %q", a.ID)
	case a.Entries > v.report.Entries:
		return fmt.Errorf("it covers %d entries, only %d are there and good: the rest was cut off or changed", a.Entries, v.report.Entries)
	case roots[a.Entries].Root != a.Root:
		return fmt.Errorf("the first %d entries are not those that it covers", a.Entries)
	}
	return nil
}

// recorded holds the lines that the journal says were posted against the journal itself. That they were posted is the
// word of the bundle, until the verifier supplies one.
func (v *verifier) recorded() {
	said := slices.Clone(v.ledger.anchors)
	if len(said) == 0 {
		return
	}
	want := map[int64]Checkpoint{}
	lines := make([]Checkpoint, len(said))
	for i, a := range said {
		c, err := ParseAnchor(a.Line)
		if err == nil && (c.Line() != a.Line || c.Entries > a.seq) {
			err = fmt.Errorf("%q covers what was not there yet", a.Line)
		}
		if err != nil {
			v.say(PropertyAnchor, Failed, "entry %d: %v", a.seq, err)
			return
		}
		lines[i], want[c.Entries] = c, Checkpoint{}
	}
	if from := v.first.Again; from != nil {
		// Those from before are of the bundle that this one was made from, or of one before that.
		n := 0
		for i, c := range lines {
			if c.ID != v.id && said[i].seq < from.Entries {
				continue
			}
			lines[n], said[n] = c, said[i]
			n++
		}
		if n < len(lines) {
			v.say(PropertyAnchor, Unproven, "%d posted, says the journal, of a bundle from which this one was redacted again (%s): they prove nothing of this one", len(lines)-n, from.ID)
		}
		if lines, said = lines[:n], said[:n]; n == 0 {
			return
		}
	}
	if err := v.rootsAt(want); err != nil {
		v.say(PropertyAnchor, Failed, "reading again: %v", err)
		return
	}
	for i, c := range lines {
		if err := v.holds(c, want); err != nil {
			v.say(PropertyAnchor, Failed, "entry %d says that %q was posted: %v", said[i].seq, c.Line(), err)
			return
		}
	}
	newest := said[len(said)-1]
	v.say(PropertyAnchor, Unproven, "%d posted, says the journal, and each fits it; the newest is %q at %q, recorded %s: bring it along to prove it", len(said), newest.Line, newest.Where, newest.t)
}

// rootsAt walks the journal once more: which sizes are asked for is known only after a first walk.
func (v *verifier) rootsAt(want map[int64]Checkpoint) error {
	l := newLedger()
	_, err := walkJournal(v.root, func(e Entry, _ []byte) error {
		l.add(v.id, &e)
		if _, ok := want[e.Seq+1]; ok {
			want[e.Seq+1] = l.checkpoint(v.id)
		}
		return nil
	})
	if v.chainErr != nil { // said already
		return nil
	}
	return err
}
