package ink

import (
	"strings"
	"time"
)

// Trail is the age and the owner of a row.
func Trail(now, since time.Time, owner Text) Text {
	out := Text("")
	if !since.IsZero() {
		out = " · " + Ago(now.Sub(since))
	}
	if owner != "" {
		out += " · " + owner
	}
	return out
}

// Trimmed is a trail without the point before it.
func Trimmed(t Text) Text { return Text(strings.TrimPrefix(string(t), " · ")) }

// Aged is Trail in few cells: an age of one unit.
func Aged(now, since time.Time, owner Text) Text {
	d, out := now.Sub(since), Text("")
	switch {
	case since.IsZero():
	case d < time.Minute:
		out = " · now"
	case d < time.Hour:
		out = Say(" · %dm", int(d.Minutes()))
	case d < 48*time.Hour:
		out = Say(" · %dh", int(d.Hours()))
	default:
		out = Say(" · %dd", int(d.Hours())/24)
	}
	if owner != "" {
		out += " · " + owner
	}
	return Trimmed(out)
}
