package tui

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"handrail/triage"
	"handrail/tui/run"
)

// TestStability: the window is never more than whole, and never less than what the
// streak says; what is left at least is what is missing.
func TestStability(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		at, gap := opened(), 20*time.Second
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
		s := run.StabilityOf(st, now)
		need := run.Greens(st)
		switch {
		case s.Gone < 0 || s.Gone > s.Full:
			r.Fatalf("the window is at %v of %v", s.Gone, s.Full)
		case st.Streak >= need && (s.Gone != s.Full || s.Least != 0):
			r.Fatalf("a complete window is at %v of %v, at least %v more", s.Gone, s.Full, s.Least)
		case st.Streak < need && s.Least < time.Duration(need-max(st.Streak, 1)-1)*gap:
			r.Fatalf("%d of %d greens, and at least %v more", st.Streak, need, s.Least)
		}
	})
}

// TestWatchScreen: the strip of samples and the last change.
func TestWatchScreen(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toHistory()
	s.want(t, "1 of 2 greens", "✓✗?✓·  5 seen", "too soon to count", "last change  02:18:33Z  to green, 22s ago", "at least     the next green completes it")
}
