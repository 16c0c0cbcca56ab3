package page

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"handrail/evidence/visible"
)

func width(t visible.Text) int { return ansi.StringWidth(string(t)) }

func spaces(n int) visible.Text { return visible.Text(strings.Repeat(" ", max(0, n))) }

func line(sign visible.Text, n int) visible.Text {
	return visible.Text(strings.Repeat(string(sign), max(0, n)))
}

// fold breaks a text at its spaces into lines of at most w cells, and a word that
// is wider wherever it must be.
func fold(t visible.Text, w int) []visible.Text {
	var out []visible.Text
	var row visible.Text
	for word := range strings.FieldsSeq(string(t)) {
		next := visible.Text(word)
		switch {
		case row != "" && width(row)+1+width(next) <= w:
			row += " " + next
			continue
		case row != "":
			out = append(out, row)
		}
		parts := hard(next, w)
		out, row = append(out, parts[:len(parts)-1]...), parts[len(parts)-1]
	}
	return append(out, row)
}

// hard breaks a text after w cells.
func hard(t visible.Text, w int) []visible.Text {
	w = max(2, w) // the widest letter
	var out []visible.Text
	var row visible.Text
	at := 0
	for s := string(t); s != ""; {
		cluster, wide := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if at+wide > w {
			out, row, at = append(out, row), "", 0
		}
		row, at, s = row+visible.Text(cluster), at+wide, s[len(cluster):]
	}
	return append(out, row)
}
