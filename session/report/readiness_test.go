package report

import (
	"strings"
	"testing"
	"time"
)

// TestReviewPage: the page of a review says what a team goes away with, and no entry for what was not read.
func TestReviewPage(t *testing.T) {
	t.Parallel()
	owed := &Debt{By: "dana", Until: "2026-12-01"}
	d := Document{
		Title: "How ready", Incident: "20261120-1-readiness-aaaa", Opened: time.Date(2026, 11, 20, 2, 14, 0, 0, time.UTC),
		People:    []Person{{Name: "ann", Proof: "the account of the machine"}},
		FollowUps: []FollowUp{{What: "Write the procedure down", Who: "dana", Until: "2026-12-01"}},
		Review: &Review{
			Where: "cluster lab", Since: "20261020-1-readiness-bbbb",
			Changed: []ReviewChange{{ID: "owned", Question: "Has every state unit an owner?", Was: "no", Is: "yes"}},
			Items: []ReviewItem{
				{Number: 1, Question: "Has every state unit an owner?", Value: "yes", Said: "yes", Who: "ann"},
				{Number: 2, Question: "Is it kept?", Value: "no", Said: "no", Who: "ann", Gap: owed, Evidence: []ReviewRead{{What: "Versions", Says: "it was not read (failed)"}}},
			},
		},
	}
	var b strings.Builder
	if err := WriteHTML(&b, d); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"Follow-ups", "Write the procedure down", "dana", "2026-12-01", "cluster lab", "2026-11-20 02:14Z", "Has every state unit an owner? Was no, is yes.", `data-h="owner"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "entry 0") {
		t.Error("the page names an entry of what was not read")
	}
}
