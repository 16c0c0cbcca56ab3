package run

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"handrail/triage"
)

// TestStability: the window is never more than whole, and never less than what the
// streak says; what is left at least is what is missing.
func TestStability(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		at, gap := time.Date(2026, 11, 20, 2, 14, 0, 0, time.UTC), 20*time.Second
		st := triage.Step{PlanStep: triage.PlanStep{Kind: triage.WatchStep, Greens: rapid.IntRange(1, 5).Draw(r, "greens"), Apart: "20s"}}
		for range rapid.IntRange(0, 12).Draw(r, "samples") {
			at = at.Add(time.Duration(rapid.IntRange(1, 60).Draw(r, "after")) * time.Second)
			st.Attempts, st.Ended, st.Green = st.Attempts+1, at, rapid.SampledFrom([]string{"true", "true", "true", "false", "unknown"}).Draw(r, "green")
			if st.Green != "true" {
				st.Streak, st.Greens = 0, nil
			} else if n := len(st.Greens); n == 0 || at.Sub(st.Greens[n-1]) >= gap {
				st.Streak, st.Greens = st.Streak+1, append(st.Greens, at)
			}
		}
		now := at.Add(time.Duration(rapid.IntRange(0, 100).Draw(r, "now")) * time.Second)
		s := stabilityOf(st, now)
		need := Greens(st)
		switch {
		case s.gone < 0 || s.gone > s.full:
			r.Fatalf("the window is at %v of %v", s.gone, s.full)
		case st.Streak >= need && (s.gone != s.full || s.least != 0):
			r.Fatalf("a complete window is at %v of %v, at least %v more", s.gone, s.full, s.least)
		case st.Streak < need && s.least < time.Duration(need-max(st.Streak, 1)-1)*gap:
			r.Fatalf("%d of %d greens, and at least %v more", st.Streak, need, s.least)
		}
	})
}
