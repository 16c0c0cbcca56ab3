package triage

import (
	"strconv"
	"strings"
	"time"
)

// Day reads a day as people say it: a date, a day of the week, which is the next one
// after today, a number of days or weeks from today, or tomorrow. It writes it as a
// date.
func Day(s string, now time.Time) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return s, true
	}
	if s == "tomorrow" {
		return today.AddDate(0, 0, 1).Format(time.DateOnly), true
	}
	if len(s) >= 3 {
		for n := 1; n <= 7; n++ {
			if d := today.AddDate(0, 0, n); strings.HasPrefix(strings.ToLower(d.Weekday().String()), s) {
				return d.Format(time.DateOnly), true
			}
		}
	}
	days := map[byte]int{'d': 1, 'w': 7}
	if len(s) < 3 || s[0] != '+' || days[s[len(s)-1]] == 0 {
		return "", false
	}
	n, err := strconv.Atoi(s[1 : len(s)-1])
	if err != nil || n < 1 || n > 1000 {
		return "", false
	}
	return today.AddDate(0, 0, n*days[s[len(s)-1]]).Format(time.DateOnly), true
}
