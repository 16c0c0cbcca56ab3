package ink

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// halo is how many cells beside a box stay empty, so that no word leans on it.
const halo = 2

// Over lays a box on what is behind it, w cells wide. What is behind keeps its
// words and loses every colour, so that nothing there looks alive; a wide
// character that the box would cut in two gives way whole.
func Over(behind, box []Drawn, veil Ink, left, up, w, h int) []Drawn {
	out := make([]Drawn, 0, h)
	for y := range h {
		var plain Text
		if y < len(behind) {
			plain = Text(ansi.Strip(string(behind[y])))
		}
		if y < up || y >= up+len(box) {
			out = append(out, veiled(veil, cellsOf(plain, 0, w)))
			continue
		}
		right := left + Cells(box[y-up])
		before, after := max(0, left-halo), min(w, right+halo)
		out = append(out, veiled(veil, cellsOf(plain, 0, before))+Blank(left-before)+box[y-up]+Blank(after-right)+veiled(veil, cellsOf(plain, after, w)))
	}
	return out
}

// veiled draws what is behind; blanks need no ink.
func veiled(veil Ink, t Text) Drawn {
	if strings.TrimSpace(string(t)) == "" {
		return Drawn(t)
	}
	return veil.On(t)
}

// cellsOf is what stands in the cells from one up to another, exactly that wide.
// A wide character of which only a half is inside is left out.
func cellsOf(t Text, from, to int) Text {
	if to <= from {
		return ""
	}
	head := ansi.Truncate(string(t), from, "")
	rest := string(t)[len(head):]
	at := ansi.StringWidth(head)
	if at < from && rest != "" { // half of it is before
		wide := ansi.Truncate(rest, 2, "")
		rest, at = rest[len(wide):], at+ansi.StringWidth(wide)
	}
	lead := max(0, at-from)
	part := ansi.Truncate(rest, to-from-lead, "")
	part = strings.Repeat(" ", lead) + part
	return Text(part + strings.Repeat(" ", max(0, to-from-ansi.StringWidth(part))))
}
