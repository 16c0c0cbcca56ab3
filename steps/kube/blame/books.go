package blame

import (
	"slices"
	"strings"
	"time"

	smd "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
)

// Fresh is how young a write is that makes a field derived state: its writer
// will write it again before a person has looked twice.
const Fresh = time.Minute

// Names under which the server keeps writes of which it no longer knows, or
// never knew, who made them.
const (
	ancientChanges = "ancient-changes"
	beforeApply    = "before-first-apply"
)

// Entry is one line of an object's managedFields.
type Entry struct {
	Manager, operation, Subresource string
	At                              time.Time // zero where it was not recorded
	Fields                          *smd.Set
}

// String names the writer with all that tells it from others of its name.
func (e Entry) String() string {
	how := e.operation
	if e.Subresource != "" {
		how += " of " + steps.Clip(e.Subresource, 60)
	}
	return steps.Clip(e.Manager, 128) + " (" + how + ", " + e.when() + ")"
}

func (e Entry) when() string {
	if e.At.IsZero() {
		return "time not recorded"
	}
	return e.At.UTC().Format(time.RFC3339)
}

// Same reports whether two entries are of one writer: the server keeps one line
// for each of these.
func (e Entry) Same(f Entry) bool {
	return e.Manager == f.Manager && e.operation == f.operation && e.Subresource == f.Subresource
}

// Anonymous reports whether the entry stands for writers whose names were lost.
func (e Entry) Anonymous() bool { return e.Manager == ancientChanges || e.Manager == beforeApply }

// ByPerson reports whether the writer calls itself what people write with. A
// script that runs kubectl does so too.
func (e Entry) ByPerson() bool {
	return e.Manager == "kubectl" || strings.HasPrefix(e.Manager, "kubectl-") || strings.HasPrefix(e.Manager, "kubectl_") || e.Manager == cluster.FieldManager
}

// Entries reads managedFields, newest first, those without a time last.
// unread counts the entries whose fields cannot be read.
func Entries(o cluster.Object) (entries []Entry, unread int) {
	for _, e := range o.GetManagedFields() {
		b := Entry{Manager: e.Manager, operation: strings.ToLower(string(e.Operation)), Subresource: e.Subresource, Fields: &smd.Set{}}
		if e.Time != nil {
			b.At = e.Time.Time
		}
		if e.FieldsV1 == nil || e.FieldsType != "FieldsV1" || b.Fields.FromJSON(e.FieldsV1.GetRawReader()) != nil {
			b.Fields = nil
			unread++
		}
		entries = append(entries, b)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.At.Compare(a.At) })
	return entries, unread
}

// The verdicts of a blame.
const (
	verdictNamed   = "named"
	verdictShared  = "shared"
	verdictUnowned = "unowned"
	verdictUnknown = "cannot_tell"
)

// verdict is who holds a place, and what that stands on.
type verdict struct {
	verdict string
	writer  Entry // the newest, of named and shared
	others  []Entry
	why     string // of cannot_tell
	unread  bool   // cannot_tell for want of a read: another attempt may tell
	above   bool   // they own a list or a map that holds the field, as a whole
}

// namedBy says who holds a place. whole tells whether the field that the first n
// steps of the place name is owned as a whole.
func namedBy(pl fieldpath.Place, entries []Entry, unread int, whole func(n int) (bool, error)) verdict {
	cannot := func(why string) verdict { return verdict{verdict: verdictUnknown, why: why} }
	switch {
	case len(entries) == 0:
		return cannot("the server keeps no managedFields of it")
	case unread > 0:
		return cannot("part of its managedFields cannot be read")
	case len(pl.Path) == 0:
		return wholeObject(entries)
	}
	var at, above []Entry
	deepest := 0
	for _, e := range entries {
		h := pl.Held(e.Fields)
		switch {
		case h.Any():
			at = append(at, e)
		case h.Above > deepest:
			deepest, above = h.Above, []Entry{e}
		case h.Above == deepest && deepest > 0:
			above = append(above, e)
		}
	}
	if len(at) == 0 && deepest > 0 {
		is, err := whole(deepest)
		if err != nil {
			v := cannot("whether " + pl.Path[:deepest].String() + " is owned as a whole is not known: " + err.Error())
			v.unread = true
			return v
		}
		if is {
			return verdictOf(above, true)
		}
	}
	if len(at) > 0 {
		return verdictOf(at, false)
	}
	if !pl.Present {
		return cannot("the field is not there, and a removal leaves neither an author nor a time")
	}
	return verdict{verdict: verdictUnowned}
}

// verdictOf weighs entries that hold a field, newest first.
func verdictOf(held []Entry, above bool) verdict {
	v := verdict{verdict: verdictNamed, writer: held[0], others: held[1:], above: above}
	if len(held) > 1 {
		v.verdict = verdictShared
	}
	if i := slices.IndexFunc(held, Entry.Anonymous); i >= 0 {
		v.verdict = verdictUnknown
		v.why = "the server keeps the oldest writes together as " + held[i].Manager + ", without their authors"
	}
	return v
}

// wholeObject says who wrote an object last, its status left aside where anything
// else was written.
func wholeObject(entries []Entry) verdict {
	of := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Subresource == "status" })
	if len(of) == 0 {
		of = entries
	}
	v := verdict{verdict: verdictNamed, writer: of[0], others: of[1:]}
	timeless := slices.IndexFunc(of, func(e Entry) bool { return e.At.IsZero() })
	switch {
	case len(of) > 1 && timeless >= 0:
		v.verdict = verdictUnknown
		v.why = "the time of what " + of[timeless].Manager + " wrote was not recorded, so it is unknown who was last"
	case of[0].Anonymous():
		v.verdict = verdictUnknown
		v.why = "its newest line is " + of[0].Manager + ", which stands for writers whose names were lost"
	case len(of) > 1 && of[1].At.Equal(of[0].At):
		v.verdict = verdictShared
	}
	return v
}
