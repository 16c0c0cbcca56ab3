package incident

import (
	"strings"

	"handrail/triage"
	"handrail/tui/ink"
)

// Coverage is how the fourteen items of evidence and the required captures of an
// incident stand.
type Coverage struct {
	list []triage.Covered
}

// CoverageOf is the coverage of a state.
func CoverageOf(st triage.State) Coverage { return Coverage{triage.Coverage(st)} }

func (c Coverage) items() []triage.Covered {
	return c.list[:min(len(c.list), len(triage.EvidenceItems()))]
}

// Missing are the items and captures that were neither captured nor waived.
func (c Coverage) Missing() []triage.Covered {
	var out []triage.Covered
	for _, x := range c.list {
		if x.Standing == triage.Missing {
			out = append(out, x)
		}
	}
	return out
}

// Line sums up in a line what evidence is there and what is not.
func (c Coverage) Line() ink.Text {
	n := map[triage.Standing]int{}
	var missing []string
	for _, x := range c.items() {
		n[x.Standing]++
		if x.Standing == triage.Missing {
			missing = append(missing, x.Item)
		}
	}
	t := ink.Say("%d of %d captured", n[triage.Captured], len(c.items())-n[triage.NotApplicable])
	if w := n[triage.Forgone]; w > 0 {
		t += ink.Say(", %d waived", w)
	}
	if len(missing) > 0 {
		t += ink.Say(", missing %s", strings.Join(missing, " "))
	}
	captures, got := c.list[len(c.items()):], 0
	for _, x := range captures {
		if x.Standing == triage.Captured {
			got++
		}
	}
	return t + ink.Say("; required captures %d/%d", got, len(captures))
}

// Strip shows each item with its sign, so that a hole is seen and not read, in w
// cells.
func (c Coverage) Strip(th *ink.Theme, w int) ink.Drawn {
	var out ink.Drawn
	name := func(item string) ink.Text { return ink.Shown(item) }
	if w < 70 {
		out, name = th.Muted.On("E"), func(item string) ink.Text { return ink.Shown(strings.TrimPrefix(item, "E")) }
	}
	for _, x := range c.items() {
		sign, i := ink.Text("·"), th.Faint
		switch x.Standing {
		case triage.Captured:
			sign, i = "✓", th.Good
		case triage.Forgone:
			sign, i = "–", th.Warn
		case triage.Missing:
			sign, i = "✗", th.Bad
		}
		if out != "" {
			out += " "
		}
		out += i.On(sign + name(x.Item))
	}
	return out
}
