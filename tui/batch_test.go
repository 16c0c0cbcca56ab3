package tui

import (
	"testing"

	"handrail/triage"
)

// TestGateTellsEachItem: what of a batch was not done stands before what was.
func TestGateTellsEachItem(t *testing.T) {
	t.Parallel()
	s := onStage(t, 100, 60, true, "")
	s.bench.items = []triage.Item{
		{Object: "job/shop/a", Outcome: "done", Response: "job/shop/a is gone by UID."},
		{Object: "job/shop/b", Outcome: "refused", Response: "Nothing was sent: it is another object."},
		{Object: "job/shop/c", Outcome: "left"},
	}
	s.toGate()
	s.write(s.bench.preview.Phrase)
	s.press("enter")
	s.want(t, "✗ job/shop/b: refused. Nothing was sent: it is another object.", "· job/shop/c: not begun, as it was.", "✓ job/shop/a: done.")
}
