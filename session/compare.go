package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// compare sets what is known side by side; it reads nothing anew.
func (s *Session) compare(step triage.Step) error {
	n := step.Attempts + 1
	if err := s.record(triage.ProbeStart{Step: step.ID, N: n, Kind: "compare", Layers: []string{"journal"}}, nil); err != nil {
		return err
	}
	end := triage.ProbeEnd{Step: step.ID, N: n, Outcome: "ok"}
	rb := s.books[journal.BookOf(step.ID)]
	end.Rows = rowsOf(rb, s.state, step.ID)
	shown := rb.Say(journal.Bare(step.ID), s.vars(rb.ID, false)).Show
	for _, cell := range shown {
		if !cell.Known {
			end.Gaps = append(end.Gaps, cell.Name+": "+cell.Why)
		}
	}
	if len(end.Rows) == 0 {
		end.Summary = fmt.Sprintf("%d values side by side, %d of them unknown", len(shown), len(end.Gaps))
	} else {
		end.Facts = journal.StoredAll(runbooks.ComparisonFacts(end.Rows))
		end.Gaps = append(end.Gaps, unread(end.Rows)...)
		end.Summary = compared(end.Rows)
	}
	if err := s.record(end, nil); err != nil {
		return err
	}
	s.refreshCards()
	s.publish()
	return nil
}

// rowsOf evaluates a comparison at the time that its attempt began. What is too
// old for a gate is unknown here too, or a comparison would make it look new.
func rowsOf(rb *runbooks.Runbook, st triage.State, id string) []triage.Compared {
	step, _ := st.Step(id)
	var out []triage.Compared
	for _, row := range rb.Rows(journal.Bare(id), varsOf(st, rb.ID, step.Started, true, nil)) {
		made := triage.Compared{Field: row.Field}
		for _, c := range row.Cells {
			made.Sides = append(made.Sides, triage.Side{Source: c.Source, Expr: c.Expr, Value: journal.Stored(c.Value), From: entries(st, c.Steps)})
		}
		out = append(out, made)
	}
	return out
}

// entries are those that settled the steps.
func entries(st triage.State, ids []string) []int64 {
	var out []int64
	for _, id := range ids {
		if step, ok := st.Step(id); ok && step.EndSeq > 0 {
			out = append(out, step.EndSeq)
		}
	}
	slices.Sort(out)
	return out
}

// unread says of each source that could not be told which it is, and why.
func unread(rows []triage.Compared) []string {
	var out []string
	for _, row := range rows {
		for _, side := range row.Sides {
			if !side.Value.Known() {
				out = append(out, row.Field+", "+side.Source+": "+side.Value.Unknown)
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
	}{{n.Agree, "agree"}, {n.Differ, "differ"}, {n.Unknown, "cannot be told"}} {
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

// overtaken says why a comparison no longer counts for a gate: something that it
// stands on was read again since. Its age is that of the oldest of them.
func overtaken(st triage.State, step triage.Step) (why string, oldest time.Time) {
	oldest = step.Ended
	if len(step.Rows) == 0 {
		return "", oldest
	}
	by := map[int64]triage.Step{}
	for _, x := range st.Steps {
		if x.EndSeq > 0 {
			by[x.EndSeq] = x
		}
	}
	for _, row := range step.Rows {
		for _, side := range row.Sides {
			for _, seq := range side.From {
				x, ok := by[seq]
				if !ok {
					return "what it compares was read again since; press r to compare again", oldest
				}
				if x.Ended.Before(oldest) {
					oldest = x.Ended
				}
			}
		}
	}
	return "", oldest
}

// comparisons are those of a journal that is audited.
type comparisons struct {
	made  int
	wrong string // the first one that does not follow from the entries before it
}

func (c *comparisons) judge(rb *runbooks.Runbook, seq int64, before triage.State, end triage.ProbeEnd) {
	step, _ := before.Step(end.Step)
	if rb == nil || step.Kind != triage.CompareStep || end.Outcome != "ok" {
		return // one that was cut off compared nothing
	}
	if len(end.Rows) > 0 {
		c.made++
	}
	if wrong := reviewed(rb, before, end); wrong != "" && c.wrong == "" {
		c.wrong = fmt.Sprintf("entry %d: %s", seq, wrong)
	}
}

func (c *comparisons) line() (AuditLine, bool) {
	out := AuditLine{Property: "comparisons", OK: c.wrong == "", Detail: fmt.Sprintf("%d made, each follows from the entries before it", c.made)}
	if !out.OK {
		out.Detail = c.wrong
	}
	return out, c.made > 0 || !out.OK
}

// reviewed compares what a journal says was compared with what follows from the
// entries before it; "" where both are the same. What was redacted is not judged.
func reviewed(rb *runbooks.Runbook, before triage.State, end triage.ProbeEnd) string {
	want := rowsOf(rb, before, end.Step)
	if len(want) != len(end.Rows) {
		return fmt.Sprintf("%s has %d fields, the journal shows %d", end.Step, len(want), len(end.Rows))
	}
	for i, row := range want {
		got := end.Rows[i]
		if got.Field != row.Field || len(got.Sides) != len(row.Sides) {
			return fmt.Sprintf("%s: the journal shows another field than %q", end.Step, row.Field)
		}
		for j, side := range row.Sides {
			said := got.Sides[j]
			if said.Source != side.Source || !slices.Equal(said.From, side.From) {
				return fmt.Sprintf("%s: %s of %s stands on other entries than the journal says", end.Step, side.Source, row.Field)
			}
			if strings.Contains(string(said.Value.V), "redacted:") {
				continue
			}
			a, b := journal.Loaded(said.Value), journal.Loaded(side.Value)
			if a.Known() != b.Known() || a.Known() && !sameValues(a, b) {
				return fmt.Sprintf("%s: %s of %s is %s, the journal says %s", end.Step, side.Source, row.Field, textOf(b), textOf(a))
			}
		}
	}
	return ""
}

func sameValues(a, b steps.Value) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	return errX == nil && errY == nil && string(x) == string(y)
}

func textOf(v steps.Value) string {
	if !v.Known() {
		return triage.Unknown
	}
	return v.Text()
}
