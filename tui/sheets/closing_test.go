package sheets

import (
	"strings"
	"testing"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/screen"
)

// TestCloseSaysWhatIsLeft: what a person took from a finding, and what an owner carries, is not
// done by the close, and the sheet that asks for it says so and claims no more than was shown.
func TestCloseSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := triage.State{
		Answered: []triage.Answered{
			{FindingAnswer: triage.FindingAnswer{Step: "a/hook", Finding: "Every request is refused.", How: triage.Taken, Person: "bea"}},
			{FindingAnswer: triage.FindingAnswer{Step: "a/lock", Finding: "The lock is old.", How: triage.Resolved, Why: "it is gone"}},
		},
		Debts: []triage.Debt{{DebtOpened: triage.DebtOpened{Text: "the webhook is put back"}, Settled: triage.Settle{How: "carried", Owner: "guard", Until: "2026-12-01"}}},
	}
	env := &screen.Env{Case: &incident.Case{Snap: view.Snapshot{State: s}}}
	for outcome, want := range map[string]int{"recovered": 2, "open": 0} {
		var all []string
		for _, l := range leftToOwners(env, outcome) {
			all = append(all, string(l))
		}
		text := strings.Join(all, "\n")
		if len(all) != want || want > 0 && text != "Not resolved: bea takes what hook found: Every request is refused.\nNot done: guard carries until 2026-12-01: the webhook is put back" {
			t.Errorf("%s: %s", outcome, text)
		}
	}
	f := closeForm(env, triage.Intent{Kind: triage.DoClose, Value: "recovered"})
	for _, l := range f.Intro {
		if strings.Contains(string(l), "is back") {
			t.Errorf("it claims %q", l)
		}
	}
}

// TestSettleTakesTheProofThatWasGiven: what the step by hand that pays a debt gave is not asked for again.
func TestSettleTakesTheProofThatWasGiven(t *testing.T) {
	t.Parallel()
	debt := triage.Debt{DebtOpened: triage.DebtOpened{ID: "d1", Kind: "reconcile", Text: "the repair is not in Git"}, Seq: 3}
	commit := triage.Step{PlanStep: triage.PlanStep{ID: "a/commit", Kind: triage.ManualStep, Pays: "reconcile"}, Status: triage.Settled, Summary: "commit 1a2b3c4", EndSeq: 5}
	for name, tc := range map[string]struct {
		steps []triage.Step
		pick  int
		proof string
	}{"given": {[]triage.Step{commit}, 0, "commit 1a2b3c4"}, "nothing given": {nil, -1, ""}} {
		env := &screen.Env{Case: &incident.Case{Snap: view.Snapshot{State: triage.State{Debts: []triage.Debt{debt}, Steps: tc.steps}}}}
		f := SettleForm(env, "d1")
		if got := f.Fields[0].Pick; got != tc.pick {
			t.Errorf("%s: %d is chosen, want %d", name, got, tc.pick)
		}
		f.Submit(map[string]string{"how": "paid"})
		if got := env.Sheet.Fields[0].Edit.Value(); got != tc.proof {
			t.Errorf("%s: the proof is %q, want %q", name, got, tc.proof)
		}
	}
}
