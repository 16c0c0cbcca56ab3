package steps

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 2, 14, 0, 0, time.UTC)
	cluster := Answer{Rows: []Standing{{Level: Warning, What: "locked", Where: "infra/lock", Since: at}, {Level: Warning, Where: "b", Count: 2}, {Level: Critical, Where: "z"}},
		Seen: []string{"leases"}, More: 1, Took: 2 * time.Second}
	workspace := Answer{Rows: []Standing{{Level: Warning, What: "locked", Where: "infra/lock", Since: at, Runbook: "state-lock"}, {Level: Info, Where: "a"}},
		Gaps: []Gap{{What: Workspace, Kind: Absent}}, Took: time.Second}
	for _, parts := range [][]Answer{{cluster, workspace}, {workspace, cluster}} {
		got := Join(LockedRuns, parts...)
		var order []string
		for _, r := range got.Rows {
			order = append(order, r.Where+" "+r.Runbook)
		}
		if want := []string{"z ", "b ", "infra/lock state-lock", "a "}; !slices.Equal(order, want) {
			t.Errorf("rows %q, want %q", order, want)
		}
		if got.Question != LockedRuns || got.More != 1 || got.Took != 2*time.Second || len(got.Seen) != 1 || len(got.Gaps) != 1 {
			t.Errorf("%+v", got)
		}
	}
	var many Answer
	for i := range MostStandings + 7 {
		many.Rows = append(many.Rows, Standing{Where: fmt.Sprint(i)})
	}
	if got := Join(LockedRuns, many); len(got.Rows) != MostStandings || got.More != 7 {
		t.Errorf("%d rows and %d more", len(got.Rows), got.More)
	}
}

func TestBlind(t *testing.T) {
	t.Parallel()
	absent := []Gap{{What: "a.example.com", Kind: Absent, Say: "x"}, {What: "b.example.com", Kind: Absent, Say: "y"}}
	denied := GapOf("c", fmt.Errorf("%w: c", ErrDenied))
	late := GapOf("d", fmt.Errorf("d: %w", context.DeadlineExceeded))
	for name, tc := range map[string]struct {
		a    Answer
		want []string
	}{
		"nothing there":           {Answer{Gaps: absent}, []string{"this cluster serves no a.example.com, no b.example.com"}},
		"the rest was seen":       {Answer{Gaps: absent, Seen: []string{"events"}}, nil},
		"a denial always counts":  {Answer{Gaps: append(absent, denied), Seen: []string{"events"}}, []string{denied.Say}},
		"and so does a late one":  {Answer{Gaps: []Gap{late}, Seen: []string{"events"}}, []string{late.Say}},
		"no workspace is no kind": {Answer{Gaps: []Gap{{What: Workspace, Kind: Absent, Say: "none"}}}, []string{"none"}},
	} {
		if diff := cmp.Diff(tc.want, tc.a.Unseen()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for want, g := range map[string]Gap{"forbidden": denied, "no answer in time": late, "not installed here": absent[0],
		"no cluster": {What: "cluster", Kind: NoPlace}, "no workspace here": {What: Workspace, Kind: Absent}, "what it said": {Kind: Unread, Say: "what it said"}} {
		if got := g.Brief(); got != want {
			t.Errorf("%+v: %q, want %q", g, got, want)
		}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, q := range Questions() {
		if seen[q.ID] || q.Title == "" || q.One == "" {
			t.Errorf("%+v", q)
		}
		seen[q.ID] = true
	}
	if len(seen) != 12 {
		t.Errorf("%d questions, want twelve", len(seen))
	}
}
