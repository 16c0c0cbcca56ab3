package session

import (
	"fmt"
	"strings"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/triage"
)

// compareRead sets side by side what was read since: a comparison reads nothing, so
// it waits for no key. One whose sources were not all tried is left to the loop.
func (s *Session) compareRead() error {
	for _, st := range s.state.Steps {
		if st.Kind != triage.CompareStep || st.Retired || st.Status != triage.Pending && st.Status != triage.Stale {
			continue
		}
		rb := s.books[journal.BookOf(st.ID)]
		if rb == nil || len(st.Refs) == 0 || rb.Aside(journal.Bare(st.ID), s.vars(rb.ID)) != "" || !s.tried(st.Refs) {
			continue
		}
		if err := s.compare(st); err != nil {
			return err
		}
	}
	return nil
}

// tried reports whether each of the steps was read or answered, or does not apply.
func (s *Session) tried(ids []string) bool {
	for _, id := range ids {
		st, ok := s.state.Step(id)
		if !ok || st.Status == triage.Settled || st.Status == triage.CannotTell || st.Status == triage.Skipped {
			continue
		}
		rb := s.books[journal.BookOf(id)]
		if rb == nil || rb.Aside(journal.Bare(id), s.vars(rb.ID)) == "" {
			return false
		}
	}
	return true
}

// compare sets what is known side by side; it reads nothing anew.
func (s *Session) compare(step triage.Step) error {
	n := step.Attempts + 1
	if err := s.record(triage.ProbeStart{Step: step.ID, N: n, Kind: "compare", Layers: []string{"journal"}}, nil); err != nil {
		return err
	}
	end := triage.ProbeEnd{Step: step.ID, N: n, Outcome: "ok"}
	rb := s.books[journal.BookOf(step.ID)]
	end.Rows = journal.Rows(rb, s.state, step.ID)
	shown := rb.Say(journal.Bare(step.ID), s.vars(rb.ID)).Show
	for _, cell := range shown {
		if !cell.Known {
			end.Gaps = append(end.Gaps, cell.Name+": "+cell.Why)
		}
	}
	if len(end.Rows) == 0 {
		end.Summary = fmt.Sprintf("%d values side by side, %d of them unknown", len(shown), len(end.Gaps))
	} else {
		end.Facts = runbooks.ComparisonFacts(end.Rows)
		end.Gaps = append(end.Gaps, unread(end.Rows)...)
		end.Summary = compared(end.Rows)
	}
	s.retext()
	return s.record(end, nil)
}

// unread says of each source that could not be told which it is, and why.
func unread(rows []triage.Compared) []string {
	var out []string
	for _, row := range rows {
		for _, side := range row.Sides {
			if !side.Value.Known() {
				out = append(out, row.Field+", "+side.Source+": "+side.Value.Why())
			}
		}
	}
	return out
}

// compared sums a comparison up in a line.
func compared(rows []triage.Compared) string {
	n, _ := triage.Tally(rows)
	out := fmt.Sprintf("%d fields", len(rows))
	if len(rows) == 1 {
		out = "1 field"
	}
	for _, part := range []struct {
		n    int
		word string
	}{{n.Agree, "agree"}, {n.Differ, "differ"}, {n.Unknown, "unknown"}} {
		if part.n > 0 {
			out += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	const named = 3
	differing := triage.Differing(rows)
	if len(differing) > named {
		differing = append(differing[:named:named], fmt.Sprintf("and %d more", len(differing)-named))
	}
	if len(differing) > 0 {
		out += "; " + strings.Join(differing, "; ")
	}
	return out
}
