package viewer

import (
	"handrail/triage"
	"handrail/tui/ink"
)

// entryKind is a sort of entries that the list can be kept to.
type entryKind struct {
	Name ink.Text
	has  func(e *Screen, m triage.Moment) bool
}

// EntryKinds are the sorts, the first of which is all.
func EntryKinds() []entryKind {
	of := func(group triage.Group) func(*Screen, triage.Moment) bool {
		return func(_ *Screen, m triage.Moment) bool { return triage.GroupOf(m.Type) == group }
	}
	return []entryKind{
		{"everything", func(*Screen, triage.Moment) bool { return true }},
		{"what needs attention", func(_ *Screen, m triage.Moment) bool { return m.Level == "warning" || m.Level == "critical" }},
		{"reads", of(triage.InReads)},
		{"answers and conclusions", of(triage.InWords)},
		{"gates and acts", of(triage.InGates)},
		{"the call", of(triage.InCall)},
		{"with raw artifacts", func(e *Screen, m triage.Moment) bool { return len(e.snap.Blobs[m.Seq]) > 0 }},
	}
}

// nextKind keeps the list to the next sort of which there is something.
func (e *Screen) nextKind() {
	kinds := EntryKinds()
	for range kinds {
		e.Kind = (e.Kind + 1) % len(kinds)
		if e.filter(); len(e.Found) > 0 || e.Kind == 0 {
			break
		}
	}
	e.At = max(0, len(e.Found)-1)
}
