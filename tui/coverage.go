package tui

import (
	"strings"

	"handrail/triage"
)

// coverage is how the fourteen items of evidence and the required captures of an
// incident stand.
type coverage struct {
	list []triage.Covered
}

func coverageOf(st triage.State) coverage { return coverage{triage.Coverage(st)} }

func (c coverage) items() []triage.Covered {
	return c.list[:min(len(c.list), len(triage.EvidenceItems()))]
}

// missing are the items and captures that nobody captured or waived.
func (c coverage) missing() []triage.Covered {
	var out []triage.Covered
	for _, x := range c.list {
		if x.Standing == triage.Missing {
			out = append(out, x)
		}
	}
	return out
}

// line sums up in a line what evidence is there and what is not.
func (c coverage) line() text {
	n := map[triage.Standing]int{}
	var missing []string
	for _, x := range c.items() {
		n[x.Standing]++
		if x.Standing == triage.Missing {
			missing = append(missing, x.Item)
		}
	}
	t := say("%d of %d captured", n[triage.Captured], len(c.items())-n[triage.NotApplicable])
	if w := n[triage.Forgone]; w > 0 {
		t += say(", %d waived", w)
	}
	if len(missing) > 0 {
		t += say(", missing %s", strings.Join(missing, " "))
	}
	captures, got := c.list[len(c.items()):], 0
	for _, x := range captures {
		if x.Standing == triage.Captured {
			got++
		}
	}
	return t + say("; required captures %d/%d", got, len(captures))
}

// strip shows each item with its sign, so that a hole is seen and not read, in w
// cells.
func (c coverage) strip(th *theme, w int) drawn {
	var out drawn
	name := func(item string) text { return shown(item) }
	if w < 70 {
		out, name = th.muted.on("E"), func(item string) text { return shown(strings.TrimPrefix(item, "E")) }
	}
	for _, x := range c.items() {
		sign, i := text("·"), th.faint
		switch x.Standing {
		case triage.Captured:
			sign, i = "✓", th.good
		case triage.Forgone:
			sign, i = "–", th.warn
		case triage.Missing:
			sign, i = "✗", th.bad
		}
		if out != "" {
			out += " "
		}
		out += i.on(sign + name(x.Item))
	}
	return out
}
