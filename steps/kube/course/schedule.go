package course

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// macros are the schedules that go by a name.
var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

var (
	months   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

// Longest is the longest time between two runs of a CronJob's schedule. Years of
// one leap cycle are looked through; a schedule that never runs is an error.
func Longest(schedule string) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(schedule))
	if every, is := strings.CutPrefix(text, "@every "); is {
		d, err := time.ParseDuration(strings.TrimSpace(every))
		if err != nil || d <= 0 {
			return 0, fmt.Errorf("the schedule %q has no interval", schedule)
		}
		return max(d.Truncate(time.Second), time.Second), nil
	}
	if long, is := macros[text]; is {
		text = long
	}
	fields := strings.Fields(text)
	if len(fields) > 0 && (strings.HasPrefix(fields[0], "tz=") || strings.HasPrefix(fields[0], "cron_tz=")) {
		fields = fields[1:]
	}
	if len(fields) != 5 {
		return 0, fmt.Errorf("the schedule %q has %d fields, not 5", schedule, len(fields))
	}
	var sets [5]uint64
	for i, bounds := range [][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}} {
		var names []string
		switch i {
		case 3:
			names = months
		case 4:
			names = weekdays
		}
		set, err := parts(fields[i], bounds[0], bounds[1], names)
		if err != nil {
			return 0, fmt.Errorf("the schedule %q: %w", schedule, err)
		}
		sets[i] = set
	}
	if sets[4]&(1<<7) != 0 {
		sets[4] |= 1 // Sunday is 0 and 7
	}
	either := !starred(fields[2]) && !starred(fields[4]) // then a day of either counts
	return longest(sets, either, schedule)
}

func starred(field string) bool {
	return strings.HasPrefix(field, "*") || strings.HasPrefix(field, "?")
}

func longest(sets [5]uint64, either bool, schedule string) (time.Duration, error) {
	has := func(i, v int) bool { return sets[i]&(1<<uint(v)) != 0 }
	var times []int // minutes of a day
	for m := range 24 * 60 {
		if has(1, m/60) && has(0, m%60) {
			times = append(times, m)
		}
	}
	start := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC) // a leap year is among the next four
	var most time.Duration
	var last time.Time
	for day := range 8*365 + 2 {
		at := start.AddDate(0, 0, day)
		ofMonth, ofWeek := has(2, at.Day()), has(4, int(at.Weekday()))
		if !has(3, int(at.Month())) || either && !ofMonth && !ofWeek || !either && !(ofMonth && ofWeek) {
			continue
		}
		for _, m := range times {
			run := at.Add(time.Duration(m) * time.Minute)
			if !last.IsZero() {
				most = max(most, run.Sub(last))
			}
			last = run
		}
	}
	if most == 0 {
		return 0, fmt.Errorf("the schedule %q never runs twice", schedule)
	}
	return most, nil
}

// parts reads one field of a schedule into a set of numbers.
func parts(field string, low, high int, names []string) (uint64, error) {
	number := func(s string) (int, error) {
		if i := slices.Index(names, s); i >= 0 {
			return i + low, nil
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("%q is not between %d and %d", s, low, high)
		}
		return n, nil
	}
	var set uint64
	for part := range strings.SplitSeq(field, ",") {
		span, stride, stepped := strings.Cut(part, "/")
		from, to, by := low, high, 1
		var err error
		if stepped {
			if by, err = strconv.Atoi(stride); err != nil || by < 1 {
				return 0, fmt.Errorf("%q has no step", part)
			}
		}
		if span != "*" && span != "?" {
			a, b, isRange := strings.Cut(span, "-")
			if from, err = number(a); err != nil {
				return 0, err
			}
			switch {
			case isRange:
				if to, err = number(b); err != nil {
					return 0, err
				}
			case !stepped:
				to = from
			}
			if to < from {
				return 0, fmt.Errorf("%q goes backwards", part)
			}
		}
		for v := from; v <= to; v += by {
			set |= 1 << uint(v)
		}
	}
	return set, nil
}
