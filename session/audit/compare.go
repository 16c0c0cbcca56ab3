package audit

import (
	"fmt"
	"slices"
	"strings"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

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

func (c *comparisons) line() (Line, bool) {
	out := Line{Property: "comparisons", OK: c.wrong == "", Detail: fmt.Sprintf("%d made, each follows from the entries before it", c.made)}
	if !out.OK {
		out.Detail = c.wrong
	}
	return out, c.made > 0 || !out.OK
}

// reviewed compares what a journal says was compared with what follows from the
// entries before it; "" where both are the same. What was redacted is not judged.
func reviewed(rb *runbooks.Runbook, before triage.State, end triage.ProbeEnd) string {
	want := journal.Rows(rb, before, end.Step)
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
				return fmt.Sprintf("%s: %s of %s is based on other entries than the journal says", end.Step, side.Source, row.Field)
			}
			if strings.Contains(string(said.Value.Raw()), "redacted:") {
				continue
			}
			a, b := said.Value, side.Value
			if a.Known() != b.Known() || a.Known() && !a.Equal(b) {
				return fmt.Sprintf("%s: %s of %s is %s, the journal says %s", end.Step, side.Source, row.Field, textOf(b), textOf(a))
			}
		}
	}
	return ""
}

func textOf(v steps.Value) string {
	if !v.Known() {
		return triage.Unknown
	}
	return v.Text()
}
