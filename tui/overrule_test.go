package tui

import (
	"slices"
	"testing"
	"time"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
)

// TestFindingIsShownAndOverruled: what it keeps shut stands under it, the sheet shows
// what is overruled, and what is sent are those very texts.
func TestFindingIsShownAndOverruled(t *testing.T) {
	t.Parallel()
	const said = "The state is empty."
	s := onStage(t, 80, 24, true, "")
	st := &s.run.Snap.State
	st.Steps = slices.Clone(st.Steps)
	i := slices.IndexFunc(st.Steps, func(x triage.Step) bool { return x.ID == id("lock") })
	st.Steps[i].Findings = []triage.Finding{{Level: "critical", Say: said, Against: []string{id("unlock")}}, {Level: "warning", Say: "old"}}
	st.Steps[i].Status = triage.Settled
	s.run.Snap.Options = triage.Options(*st, st.Updated, nil)
	s.run.Front(id("lock"))
	s.run.Decide()
	s.want(t, said, "keeps shut: unlock")
	s.press("w")
	s.want(t, "Overrule what lock found", said)
	s.run.Snap.State.Steps[i].Findings = []triage.Finding{{Level: "critical", Say: "Something newer.", Against: []string{id("unlock")}}}
	s.press("p", "enter", "x", "enter")
	if len(s.bench.sent) != 1 {
		t.Fatalf("sent %+v", s.bench.sent)
	}
	got := s.bench.sent[0]
	if got.Kind != triage.DoWaive || got.Law != triage.LawNone || got.Step != id("lock") || got.Person != "p" || got.Text != "x" || !slices.Equal(got.Findings, []string{said}) {
		t.Errorf("sent %+v", got)
	}
}

// toOpposed is a step whose finding keeps a gate shut.
func (s *stage) toOpposed() {
	s.pass(47 * time.Second)
	st := &s.run.Snap.State
	st.Steps = slices.Clone(st.Steps)
	i := slices.IndexFunc(st.Steps, func(x triage.Step) bool { return x.ID == id("lock") })
	st.Steps[i].Status = triage.Settled
	st.Steps[i].Findings = []triage.Finding{
		{Level: "critical", Say: "The lock is 14m0s old, and an apply here may take 30m0s. Treat its holder as alive.", Against: []string{id("unlock")}},
		{Level: "info", Say: "Its age permits a release; it does not justify one."},
	}
	s.run.Snap.Options = triage.Options(*st, st.Updated, nil)
	s.run.Front(id("lock"))
	s.run.Decide()
}

// TestPlaceOfTheTarget: the first line says it where the cluster does not.
func TestPlaceOfTheTarget(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]ink.Text{"/infra/live/production": "PRODUCTION", "unknown: it does not answer": "PRODUCTION", "/infra/dev": ""} {
		s := onStage(t, 80, 24, true, "")
		s.run.Snap.Header = []steps.KV{{Key: "cluster", Value: "none"}, {Key: "host", Value: "prod-bastion"}}
		s.run.Snap.Where = []steps.KV{{Key: "directory", Value: value}}
		if got := s.Place(); got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
}
