package tui

import (
	"strings"

	"handrail/triage"
	"handrail/tui/ink"
)

// entryKind is a sort of entries that the list can be kept to.
type entryKind struct {
	name ink.Text
	has  func(e *evidenceScreen, m triage.Moment) bool
}

// entryKinds are the sorts, the first of which is all.
func entryKinds() []entryKind {
	of := func(types ...string) func(*evidenceScreen, triage.Moment) bool {
		return func(_ *evidenceScreen, m triage.Moment) bool {
			for _, t := range types {
				if m.Type == t || strings.HasSuffix(t, ".") && strings.HasPrefix(m.Type, t) {
					return true
				}
			}
			return false
		}
	}
	return []entryKind{
		{"everything", func(*evidenceScreen, triage.Moment) bool { return true }},
		{"what needs attention", func(_ *evidenceScreen, m triage.Moment) bool { return m.Level == "warning" || m.Level == "critical" }},
		{"reads", of("probe.end")},
		{"answers and conclusions", of("answer", "manual", "conclude", "skip", "waive")},
		{"gates and acts", of("gate.", "act.", "approve", "debt", "settle")},
		{"the call", of("open", "close", "person", "handover", "plan", "phase", "severity", "note", "correct")},
		{"with raw artifacts", func(e *evidenceScreen, m triage.Moment) bool { return len(e.snap.Blobs[m.Seq]) > 0 }},
	}
}

// nextKind keeps the list to the next sort of which there is something.
func (e *evidenceScreen) nextKind() {
	kinds := entryKinds()
	for range kinds {
		e.kind = (e.kind + 1) % len(kinds)
		if e.filter(); len(e.found) > 0 || e.kind == 0 {
			break
		}
	}
	e.at = max(0, len(e.found)-1)
}
