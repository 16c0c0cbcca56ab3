package record

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestOwing: what was not done owes nothing, and a batch that did nothing neither.
func TestOwing(t *testing.T) {
	t.Parallel()
	owes := []Debt{{Kind: "unfinished", Text: "no clean-up", Item: "a"}, {Kind: "unfinished", Text: "no clean-up", Item: "b"}, {Kind: "reconcile", Text: "tell Git"}}
	for _, tc := range []struct {
		name  string
		items []Item
		want  string
	}{
		{"stopped in the middle", []Item{{Object: "a", Outcome: "done"}, {Object: "b", Outcome: "failed"}}, "no clean-up (a)|tell Git"},
		{"all", []Item{{Object: "a", Outcome: "done"}, {Object: "b", Outcome: "done"}}, "no clean-up (2 objects: a, b)|tell Git"},
		{"nothing", []Item{{Object: "a", Outcome: "refused"}, {Object: "b", Outcome: Left}}, ""},
	} {
		var got []string
		for _, d := range Together(Owing(owes, tc.items)) {
			got = append(got, d.Text)
		}
		if strings.Join(got, "|") != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestTogether keeps debts apart that differ, and names no more than can be read. One that names its
// item keeps its words: by them the gate about that item pays it.
func TestTogether(t *testing.T) {
	t.Parallel()
	var owes []Debt
	for i := range 12 {
		owes = append(owes, Debt{Kind: "unfinished", Text: "x", Item: fmt.Sprint(i)})
	}
	owes = append(owes, Debt{Kind: "resume", Text: "cronjob/a is paused", Item: "cronjob/a"}, Debt{Kind: "unfinished", Text: "x", Due: time.Hour, Item: "late"}, Debt{Kind: "resume", Text: "y"})
	got := Together(owes)
	if len(got) != 4 || got[1].Text != "cronjob/a is paused" || got[0].Text != "x (12 objects: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more)" || got[2].Text != "x (late)" || got[3].Text != "y" {
		t.Errorf("Together() = %+v", got)
	}
}
