package report

import (
	"cmp"

	"handrail/triage"
)

// coverage says of each item of evidence, and then of each required capture, how it stands.
func (b *builder) coverage() {
	list := triage.Coverage(b.st)
	b.d.Covered = line(triage.CoverageLine(list))
	for _, c := range list {
		why := c.Why
		if c.Standing == triage.Forgone {
			why = "waived by " + cmp.Or(c.Who, "an unnamed person") + ": " + c.Why
		}
		b.d.Coverage = append(b.d.Coverage, Coverage{
			Code: line(c.Item), Item: line(c.Means), State: string(c.Standing), Steps: line(c.Step), Why: line(why), Entry: c.Seq,
		})
	}
}
