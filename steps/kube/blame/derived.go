package blame

import (
	"fmt"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
)

// bornWithin is how long after its making the writes that made an object last.
const bornWithin = 2 * time.Second

// rewritten says whether one of entries was written less than a minute ago
// by a client that does not call itself kubectl, and by which. Who made the object a
// moment ago did not rewrite it, and need not come again. why says that the cluster does not
// tell; it is "" for a clear no.
func rewritten(entries []Entry, born, now time.Time, clockless string) (is bool, by, why string) {
	for _, e := range entries {
		switch {
		case e.ByPerson():
		case e.At.IsZero():
			why = "the time of what " + steps.Clip(e.Manager, 128) + " wrote was not recorded"
		case e.At.Sub(born) <= bornWithin:
		case clockless != "":
			why = clockless
		case now.Sub(e.At) < Fresh:
			return true, e.String(), ""
		}
	}
	return false, "", why
}

// DerivedField is a field that a patch would change in vain.
type DerivedField struct {
	Field, Writer string
}

// DerivedFields are those of the fields named by JSON pointers that another client
// rewrote less than a minute ago, and doubts why it cannot be said of the
// others. A field without an owner counts by the newest write of the object:
// admission, which leaves no owner, runs with each.
func DerivedFields(o cluster.Object, pointers []string, now time.Time, clockless string) (derived []DerivedField, doubts []string) {
	entries, unread := Entries(o)
	if unread > 0 || len(entries) == 0 {
		return nil, []string{"who wrote it is not known: its managedFields cannot be read"}
	}
	born := o.GetCreationTimestamp().Time
	for _, pointer := range pointers {
		path, err := fieldpath.Pointer(pointer)
		if err != nil {
			return nil, append(doubts, err.Error())
		}
		pl, err := path.In(o.Object)
		if err != nil {
			doubts = append(doubts, err.Error())
			continue
		}
		var held []Entry
		for _, e := range entries {
			if h := pl.Held(e.Fields); h.Any() || h.Above > 0 {
				held = append(held, e)
			}
		}
		if len(held) == 0 && pl.Present {
			held = newest(entries)
		}
		is, by, why := rewritten(held, born, now, clockless)
		switch {
		case is:
			derived = append(derived, DerivedField{steps.Clip(pl.Path.String(), 300), by})
		case why != "":
			doubts = append(doubts, fmt.Sprintf("%s: %s", steps.Clip(pl.Path.String(), 300), why))
		}
	}
	return derived, doubts
}
