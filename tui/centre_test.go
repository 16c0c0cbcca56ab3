package tui

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/home"
	"handrail/tui/match"
	"handrail/tui/screen"
	"handrail/tui/wait"
)

// TestCentreComesRowByRow: each answer is on the screen when it comes, and the
// row that a person chose stays chosen.
func TestCentreComesRowByRow(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 30, false, "")
	s.settle(s.home.Load(s.Env))
	answers, more := make(chan steps.Answer), make(chan struct{})
	s.Config.Centre = func(_ context.Context, tell func(steps.Answer)) {
		for a := range answers {
			tell(a)
			more <- struct{}{}
		}
	}
	next := s.home.Ask(s.Env)
	s.want(t, "checking: 12 of 12 questions")
	s.press("d") // to the drills
	chosen := s.home.Rows[s.home.At].ID
	for i, a := range centreFixture("") {
		answers <- a
		<-more
		_, next = s.Update(next())
		if got := s.home.Rows[s.home.At]; got.ID != chosen || got.Section != home.Practice {
			t.Fatalf("after answer %d the cursor is on %+v, want the drill %s", i, got, chosen)
		}
	}
	close(answers)
	if _, done := s.Update(next()); done != nil || s.home.Centre.Asking {
		t.Error("it still asks")
	}
	s.press("esc", "home")
	s.want(t, "✗ stuck", "! lock", "2 more: unreconciled manual changes", "nothing: partial applies, denying policies, open drift",
		"failed secret rotations", "(no answer in time)")
}

// TestCentreAskedAgain: what an asking before still says is not shown.
func TestCentreAskedAgain(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toHome()
	var ended context.Context
	s.Config.Centre = func(ctx context.Context, _ func(steps.Answer)) { ended = ctx; <-ctx.Done() }
	first := s.home.Ask(s.Env)
	old := s.home.Centre.Run
	s.Config.Centre = func(context.Context, func(steps.Answer)) {}
	s.settle(s.home.Ask(s.Env))
	first() // returns, since the asking before was given up
	if ended.Err() == nil {
		t.Error("the asking before goes on")
	}
	s.Update(home.AnswerMsg{Run: old, A: centreFixture("")[0]})
	if len(s.home.Centre.Answers) != 0 {
		t.Errorf("answers = %v, want none of the asking before", s.home.Centre.Answers)
	}
}

// TestCentreWaitsForTheFrame: nothing is asked before the first frame, and
// nothing at all beside an incident.
func TestCentreWaitsForTheFrame(t *testing.T) {
	t.Parallel()
	for _, incident := range []bool{false, true} {
		s := onStage(t, 80, 24, incident, "")
		asked := 0
		s.Config.Centre = func(context.Context, func(steps.Answer)) { asked++ }
		s.Update(home.HomeMsg{})
		if asked > 0 {
			t.Error("asked before the frame")
		}
		_, cmd := s.Update(home.FramedMsg{})
		s.settle(cmd)
		if want := map[bool]int{false: 1, true: 0}[incident]; asked != want {
			t.Errorf("beside an incident %v: asked %d times, want %d", incident, asked, want)
		}
	}
}

// TestCentreStartsTheRunbook with its parameters, from its row.
func TestCentreStartsTheRunbook(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	var started string
	var with map[string]string
	start := s.Config.Start
	s.Config.Start = func(ctx context.Context, begin screen.Start) (screen.Incident, error) {
		started, with = begin.Runbook, begin.Given
		return start(ctx, begin)
	}
	s.toHome()
	s.press("/")
	s.write("lock-tfstate")
	s.press("enter")
	s.want(t, "locked runs: infra/lock-tfstate-default-network", "47m 00s", "start  an incident with state-lock dir=. workspace=default")
	if started != "" {
		t.Fatal("to look at a row started an incident")
	}
	_, cmd := s.Update(keyPress("enter"))
	for _, c := range cmd().(tea.BatchMsg) {
		if m, is := c().(wait.OpenedMsg); is {
			s.Update(m)
			break
		}
	}
	if started != "state-lock" || with["dir"] != "." || with["workspace"] != "default" {
		t.Errorf("started %q with %v", started, with)
	}
}

// TestCentreChangesParameters shows them filled before anything starts.
func TestCentreChangesParameters(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toHome()
	s.Config.Params = func(string) []steps.Field {
		return []steps.Field{{Name: "dir", Type: steps.Path, Default: "."}, {Name: "workspace", Type: steps.String}}
	}
	s.press("down", "down", "enter", "2", "enter")
	s.want(t, "Start state-lock", "default")
}

// TestCentreRows: the palette and the filter find them, the fold opens, what has
// no runbook says so.
func TestCentreRows(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toHome()
	s.press(":")
	s.write("stuck")
	s.want(t, "Look at deployment/shop/checkout")
	s.press("esc", "/")
	s.write("ledger") // folded
	s.want(t, "deployment/shop/ledger")
	s.press("enter")
	s.want(t, "enter rank the runbooks for its message", "Owner: kustomization flux-system/shop")
	s.press("enter")
	s.want(t, "What is the error?", "deployment/shop/ledger", "what it says of itself")
	s.press("esc", "esc")
	i := slices.IndexFunc(s.home.Rows, func(r home.HomeRow) bool { return r.Fold })
	s.home.At, s.home.Moved = i, true
	s.press("enter")
	s.want(t, "all unreconciled manual changes: 5", "deployment/shop/ledger")
	s.press("enter")
	s.home.At = slices.IndexFunc(s.home.Rows, func(r home.HomeRow) bool { return r.ID == "not seen" })
	s.press("enter")
	s.want(t, "what could not be seen", "for that right", "did not answer in time")
	if strings.Contains(s.screen(), "partial applies") {
		t.Error("what was seen whole is among what was not")
	}
}

// TestAlikeOfAnOldPaste: incidents that are like a text which is no longer the
// pasted one are not shown.
func TestAlikeOfAnOldPaste(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toMatch()
	s.want(t, "RECENT INCIDENTS WITH THE SAME ERROR", "20261102-091100-state-lock-q2wz", "18d · recovered")
	old := s.match.Seq
	s.press("ctrl+u")
	s.Update(keyPress("x"))
	s.Update(match.AlikeMsg{Seq: old, Like: []screen.Alike{{ID: "old"}}})
	if strings.Contains(s.screen(), "RECENT INCIDENTS WITH THE SAME ERROR") {
		t.Errorf("what an old paste was like is shown:\n%s", s.screen())
	}
}
