package cli

import (
	"testing"

	"handrail/session/index"
	"handrail/triage"
)

// TestReviewCountsDebts: what gates changed and Git does not have is told apart from what was done by hand.
func TestReviewCountsDebts(t *testing.T) {
	t.Parallel()
	owes := func(kind, how, until string) triage.Debt {
		var d triage.Debt
		d.Kind = kind
		d.Settled.How, d.Settled.Until = how, until
		return d
	}
	got := countReview([]index.Row{
		{Debts: []triage.Debt{owes("reconcile", "carried", "2026-12-01"), owes("reconcile", "", ""), owes("reconcile", "paid", ""), owes("reconcile", "waived", ""), owes(triage.ProofDebt, "", "")}},
		{Debts: []triage.Debt{owes("resume", "carried", "2026-11-01")}},
		{Drill: "killed-runner", Outcome: "recovered", Debts: []triage.Debt{owes("reconcile", "", "")}},
		{Err: "torn", Debts: []triage.Debt{owes("reconcile", "", "")}},
	}, "2026-11-20")
	for name, want := range map[string]int{"unmerged": 2, "by_hand": 1, "overdue": 1, "practised": 1, "practised_apply": 1} {
		if got[name] != want {
			t.Errorf("%s is %d, want %d", name, got[name], want)
		}
	}
}
