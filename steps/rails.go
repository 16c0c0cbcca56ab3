package steps

import (
	"slices"
	"strings"
)

// Rail is what stands left of a node: At in its own row, Below in the rows under
// it that still are about it.
type Rail struct{ At, Below string }

// bus is a line that goes down from nodes to what waits for all of them.
type bus struct {
	from, to []int // rows, each sorted; every from is above every to
	column   int
}

func (b bus) last() int { return b.to[len(b.to)-1] }

// Rails draws what waits for what, a rail each node. A line without a head goes
// in, one with a head comes out: everything that goes in is before everything
// that comes out. What waits through another has no line of its own, and neither
// has what the order goes against.
func (g Graph) Rails() []Rail {
	buses := g.buses()
	wide := 0
	for _, b := range buses {
		wide = max(wide, b.column+1)
	}
	out := make([]Rail, len(g.Nodes))
	for row := range g.Nodes {
		out[row] = railOf(buses, wide, row)
	}
	return out
}

// InASCII writes what Rails drew for a terminal without Unicode.
func InASCII(rail string) string {
	return strings.NewReplacer("│", "|", "─", "-", "┌", ".", "┬", ".", "├", "+", "└", "'", "┼", "+", "┴", "+", "▶", ">").Replace(rail)
}

// direct are the rows that wait for a row and for nothing between.
func (g Graph) direct(row int) []int {
	var out []int
	for to := row + 1; to < len(g.Nodes); to++ {
		if g.waits(to, row) && !slices.ContainsFunc(out, func(mid int) bool { return g.through(to, mid) }) {
			out = append(out, to)
		}
	}
	return out
}

func (g Graph) waits(row, before int) bool {
	return slices.Contains(g.Nodes[row].After, g.Nodes[before].Name)
}

// through reports whether a row waits for an earlier one, by others too.
func (g Graph) through(row, before int) bool {
	for mid := row - 1; mid >= before; mid-- {
		if g.waits(row, mid) && (mid == before || g.through(mid, before)) {
			return true
		}
	}
	return false
}

// buses gives each row that something waits for a line. Rows that wait for
// nothing and have the same behind them share one; a column whose line has come
// to its end is free for another.
func (g Graph) buses() []bus {
	behind := make([][]int, len(g.Nodes))
	comes := map[int]bool{}
	for row := range g.Nodes {
		behind[row] = g.direct(row)
		for _, to := range behind[row] {
			comes[to] = true
		}
	}
	var out []bus
	for row := range g.Nodes {
		if len(behind[row]) == 0 {
			continue
		}
		if at := slices.IndexFunc(out, func(b bus) bool {
			return !comes[row] && !comes[b.from[0]] && slices.Equal(b.to, behind[row])
		}); at >= 0 {
			out[at].from = append(out[at].from, row)
			continue
		}
		b := bus{from: []int{row}, to: behind[row]}
		for slices.ContainsFunc(out, func(o bus) bool { return o.column == b.column && o.last() >= row }) {
			b.column++
		}
		out = append(out, b)
	}
	return out
}

func railOf(buses []bus, wide, row int) Rail {
	var at, below strings.Builder
	flat, comes := false, false // a line runs to the right from here; it has a head
	for column := range wide {
		cell, under := " ", " "
		for _, b := range buses {
			if b.column != column || row < b.from[0] || row > b.last() {
				continue
			}
			if row < b.last() {
				under = "│"
			}
			in, out := slices.Contains(b.from, row), slices.Contains(b.to, row)
			cell = sign(in, out, flat, row == b.from[0], row == b.last())
			flat, comes = flat || in || out, comes || out
		}
		if cell == " " && flat {
			cell = "─"
		}
		at.WriteString(cell)
		below.WriteString(under + " ")
		if flat {
			at.WriteString("─")
		} else {
			at.WriteString(" ")
		}
	}
	switch {
	case comes:
		at.WriteString("▶")
	case flat:
		at.WriteString("─")
	default:
		at.WriteString(" ")
	}
	return Rail{At: at.String(), Below: below.String() + " "}
}

// sign is where a row and the line of a column cross.
func sign(in, out, flat, first, last bool) string {
	switch {
	case !in && !out:
		return "│" // passed, and not met
	case flat && first:
		return "┬"
	case first:
		return "┌"
	case flat && last:
		return "┴"
	case last:
		return "└"
	case flat:
		return "┼"
	}
	return "├"
}
