package ink

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span is a deadline as people say it: 60s, 15m.
func Span(d time.Duration) Text {
	switch {
	case d <= 2*time.Minute:
		return Say("%ds", int(d.Seconds()))
	case d%time.Minute == 0:
		return Say("%dm", int(d.Minutes()))
	}
	return Ago(d)
}

// Or is t, or the other text where t is empty.
func Or(t, other Text) Text {
	if t == "" {
		return other
	}
	return t
}

// Percent is how much n is of a whole.
func Percent(n, of int64) int64 {
	if of <= 0 {
		return 100
	}
	return int64(float64(n) / float64(of) * 100)
}

// Grouped is a number that can be read aloud.
func Grouped(n int64) Text {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return Shown(s)
}

// Amount is a number of bytes.
func Amount(n int64) Text {
	if n < 1000 {
		return Say("%d bytes", n)
	}
	f, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if f /= 1024; f < 1000 {
			break
		}
	}
	return Text(fmt.Sprintf("%.1f %s", f, unit))
}

// Padded pads a text; what is longer stays whole.
func Padded(t Text, w int) Text { return t + Text(Blank(w-Cells(Drawn(t)))) }

// Clock is a time of day, in UTC.
func Clock(t time.Time) Text { return Text(t.UTC().Format("15:04:05Z")) }

// Few lists some names and counts the others.
func Few(names []string, n int) Text {
	if len(names) <= n {
		return Shown(strings.Join(names, "; "))
	}
	return Say("%s; and %d more", strings.Join(names[:n], "; "), len(names)-n)
}

// Sentence begins with a capital.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Minutes is a time that goes on, to the minute once there is one: no one reads
// the seconds, and each would be drawn.
func Minutes(d time.Duration) Text {
	if d < time.Minute || d >= time.Hour {
		return Ago(d)
	}
	return Say("%dm", int(d.Minutes()))
}

// Ago writes an age for people: two units at most.
func Ago(d time.Duration) Text {
	d = d.Truncate(time.Second)
	switch {
	case d < 0:
		return "in the future"
	case d < time.Minute:
		return Say("%ds", int(d.Seconds()))
	case d < time.Hour:
		return Text(fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60))
	case d < 48*time.Hour:
		return Text(fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60))
	}
	return Say("%d days", int(d.Hours())/24)
}
