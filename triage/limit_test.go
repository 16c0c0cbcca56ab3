package triage

import (
	"errors"
	"strings"
	"testing"
)

// Whatever a journal is long by, the fold of it ends.
func TestLimit(t *testing.T) {
	t.Parallel()
	many := State{Steps: make([]Step, limitParts/2), Plans: []Plan{{Steps: make([]PlanStep, limitParts/2)}}}
	for _, tc := range []struct {
		name, data string
		s          State
		most       int64 // entries that are taken
		why        string
	}{
		{"entries", "{}", State{}, limitEntries, "over 1000000 entries"},
		{"bytes", strings.Repeat("x", 1<<20), State{}, limitBytes >> 20, "over 256 MiB"},
		{"members", strings.Repeat("{},", 300_000), State{}, limitMembers / 300_001, "values"},
		{"parts", "{}", many, 0, "over 10000 steps"},
		{"work", "{}", State{People: make([]Person, 10_000)}, limitWork / 10_000, "too many entries"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var l Limit
			taken := int64(0)
			var err error
			for ; err == nil && taken <= tc.most+1; taken++ {
				err = l.Take([]byte(tc.data), tc.s)
			}
			if !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), tc.why) || taken-1 != tc.most {
				t.Errorf("after %d entries: %v, want %d and %q", taken-1, err, tc.most, tc.why)
			}
		})
	}
}
