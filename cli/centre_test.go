package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/evidence/redact"
	"handrail/session/index"
	"handrail/steps"
	"handrail/triage"
)

// TestCentreRecorded answers from the incidents of this machine.
func TestCentreRecorded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	debt := func(id, kind, how, until string) triage.Debt {
		d := triage.Debt{DebtOpened: triage.DebtOpened{ID: id, Kind: kind, Text: "the text of " + id}}
		d.Settled.How, d.Settled.Owner, d.Settled.Until = how, "platform", until
		return d
	}
	act := func(outcome string, class triage.Class, ago time.Duration) index.Act {
		return index.Act{Uses: "kube/delete", Class: class, Seq: 9, At: now.Add(-ago), Outcome: outcome, Effect: "deleted it", Target: []triage.KV{{Key: "user", Value: "ana"}}}
	}
	rows := []index.Row{
		{ID: "partial", Title: "half done", Opened: now.Add(-time.Hour), Failure: "MutationPartiallySucceeded"},
		{ID: "over", Outcome: "recovered", Failure: "MutationPartiallySucceeded", Acts: []index.Act{act("done", triage.Repair, time.Hour), act("failed", triage.Repair, time.Hour), act("done", triage.Repair, 8*24*time.Hour)}},
		{ID: "drifted", Failure: "LiveStateDiverged", Debts: []triage.Debt{debt("d1", "resume", "", ""), debt("d2", "reconcile", "carried", "2026-11-20"), debt("d3", "unfinished", "carried", "2027-01-01")}},
		{ID: "drill", Drill: "killed-runner", Failure: "MutationPartiallySucceeded", Debts: []triage.Debt{debt("d4", "resume", "", "")}, Acts: []index.Act{act("done", triage.Release, time.Hour)}},
	}
	w := &outlook{p: &process.Program{Now: func() time.Time { return now }}, rows: rows}
	for question, want := range map[string]string{
		steps.PartialApplies:   "critical partial: open incident: half done",
		steps.OpenDrift:        "warning drifted: open incident: ",
		steps.BreakGlass:       "info drifted: paused in an incident: the text of d1",
		steps.ManualChanges:    "warning drifted: owed to Git: the text of d2",
		steps.RepairedState:    "info over: deleted it",
		steps.StuckDeployments: "",
	} {
		var got []string
		a := w.recorded(question)
		for _, r := range a.Rows {
			got = append(got, string(r.Level)+" "+r.Incident+": "+r.What)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
		if seen := len(a.Seen) > 0; seen != (want != "" && question != steps.OpenDrift) {
			t.Errorf("%s: seen %q", question, a.Seen)
		}
	}
	w.lost = io.ErrUnexpectedEOF
	if a := w.recorded(steps.RepairedState); len(a.Gaps) != 1 || len(a.Seen) > 0 {
		t.Errorf("%+v, want a gap", a)
	}
}

// TestCentrePresentable: no secret is shown, and no runbook offered that there
// is not.
func TestCentrePresentable(t *testing.T) {
	t.Parallel()
	p := &process.Program{Stderr: &process.Scrubber{W: io.Discard, From: func() ([]string, []redact.TeamRule) { return []string{"hunter2hunter2"}, nil }}}
	a := presentable(p, steps.Answer{Rows: []steps.Standing{{What: "with hunter2hunter2", Detail: "hunter2hunter2", Runbook: "later", Params: map[string]string{"a": "b"}},
		{Where: "x", Runbook: "state-lock", Params: map[string]string{"dir": "."}}}, Gaps: []steps.Gap{{Say: "hunter2hunter2"}}}, map[string]bool{"state-lock": true})
	for _, text := range []string{a.Rows[0].What, a.Rows[0].Detail, a.Gaps[0].Say} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%q has the secret", text)
		}
	}
	if a.Rows[0].Runbook != "" || a.Rows[0].Params != nil || a.Rows[1].Runbook != "state-lock" {
		t.Errorf("%+v", a.Rows)
	}
}

func TestFingerprintsOfAPaste(t *testing.T) {
	t.Parallel()
	text := "all is well\nError: lock 17 is held\r\nError: lock 18 is held\n\nError: timed out\n"
	if got := fingerprints(text); len(got) != 2 || got[0] != index.FingerprintOf("Error: timed out") || got[1] != index.FingerprintOf("Error: lock 1 is held") {
		t.Errorf("%q", got)
	}
	many := strings.Builder{}
	for i := range 3 * mostErrors {
		many.WriteString("error " + strings.Repeat("a", i+1) + "\n")
	}
	if got := fingerprints(many.String()); len(got) != mostErrors {
		t.Errorf("%d fingerprints, want %d", len(got), mostErrors)
	}
}
