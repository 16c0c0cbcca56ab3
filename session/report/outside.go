package report

import (
	"strings"
	"time"

	"handrail/evidence/visible"
)

// line makes outside text harmless, on one line.
func line(s string) visible.Text { return visible.Line(s) }

// block makes outside text harmless and keeps its lines.
func block(s string) visible.Text { return visible.String(strings.Trim(s, "\n")) }

func texts(list []string) []visible.Text {
	var out []visible.Text
	for _, s := range list {
		out = append(out, line(s))
	}
	return out
}

// span is the time between two moments, "" where one is not known.
func span(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	d := to.Sub(from)
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
