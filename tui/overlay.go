package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// halo is how many cells beside a box stay empty, so that no word leans on it.
const halo = 2

// over lays a box on what is behind it, w cells wide. What is behind keeps its
// words and loses every colour, so that nothing there looks alive; a wide
// character that the box would cut in two gives way whole.
func over(behind, box []drawn, veil ink, left, up, w, h int) []drawn {
	out := make([]drawn, 0, h)
	for y := range h {
		var plain text
		if y < len(behind) {
			plain = text(ansi.Strip(string(behind[y])))
		}
		if y < up || y >= up+len(box) {
			out = append(out, veiled(veil, cellsOf(plain, 0, w)))
			continue
		}
		right := left + cells(box[y-up])
		before, after := max(0, left-halo), min(w, right+halo)
		out = append(out, veiled(veil, cellsOf(plain, 0, before))+blank(left-before)+box[y-up]+blank(after-right)+veiled(veil, cellsOf(plain, after, w)))
	}
	return out
}

// veiled draws what is behind; blanks need no ink.
func veiled(veil ink, t text) drawn {
	if strings.TrimSpace(string(t)) == "" {
		return drawn(t)
	}
	return veil.on(t)
}

// cellsOf is what stands in the cells from one up to another, exactly that wide.
// A wide character of which only a half is inside is left out.
func cellsOf(t text, from, to int) text {
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
	return text(part + strings.Repeat(" ", max(0, to-from-ansi.StringWidth(part))))
}

// behindGate is the screen that the gate came over.
func (m *model) behindGate(h int) []drawn {
	off := m.run.off
	defer func() { m.run.off = off }()
	return m.body(h)
}

// drawGate lays the gate over the screen behind it. The head of the incident
// stays: how bad it is and where.
func (m *model) drawGate() ([]drawn, *tea.Position) {
	head := m.header()
	if m.h <= roomy {
		head = head[:1]
	}
	rows, cur := m.gateOver(m.h - len(head))
	if cur != nil {
		cur.Y += len(head)
	}
	return append(head, rows...), cur
}

// gateOver is the gate with what is behind it, in h rows.
func (m *model) gateOver(h int) ([]drawn, *tea.Position) {
	box, cur := m.gateBox(h)
	left, up := (m.w-cells(box[0]))/2, max(0, (h-len(box))/2)
	if cur != nil {
		cur.X, cur.Y = cur.X+left, cur.Y+up
	}
	return over(m.behindGate(h), box, m.th.veil, left, up, m.w, h), cur
}
