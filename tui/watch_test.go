package tui

import "testing"

// TestWatchScreen: the strip of samples and the last change.
func TestWatchScreen(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toHistory()
	s.want(t, "1 of 2 greens", "✓✗?✓·  5 seen", "too soon to count", "last change  02:18:33Z  to green, 22s ago", "at least     the next green completes it")
}
