package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/home"
	"handrail/tui/screen"
)

// TestOpenIncidentsSayWhatWhereAndWho: two incidents with one title are told apart, and
// those of drills wait with the drills.
func TestOpenIncidentsSayWhatWhereAndWho(t *testing.T) {
	t.Parallel()
	for _, w := range []int{80, 140} {
		s := onStage(t, w, 45, false, "")
		s.toHome()
		s.want(t, "/srv/infra/network, workspace default · ana@example.org", "in mutation · open for 0s", "Unfinished drills: 1. Key: d")
		if got := s.screen(); strings.Contains(got, "PRACTISE") || strings.Contains(got, "Killed runner") || strings.Contains(got, "An object hangs in deletion · drill") {
			t.Errorf("%d wide: drills stand between what is real:\n%s", w, got)
		}
		s.press("d")
		s.want(t, "PRACTISE", "killed-runner", "▸ enter  Resume 20261119-160000-stuck-finalizer-d7pa", "drill stuck-finalizer · ana@example.org")
		if strings.Contains(s.screen(), "RIGHT NOW") {
			t.Errorf("%d wide: the drills do not fill the screen", w)
		}
		s.press("esc")
		s.want(t, "RIGHT NOW", "▸ enter  Resume 20261120-021400-state-lock-k7qd")
		s.press("/")
		s.write("killed-runner")
		s.want(t, "killed-runner", "PRACTISE")
	}
}

// TestSecondIncidentOnOneTarget: a start on what an open incident is about names that
// one, and offers to resume it; a second one takes a choice.
func TestSecondIncidentOnOneTarget(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ key, opens string }{{"1", "resume 20261120-021400-state-lock-k7qd"}, {"2", "start state-lock"}} {
		s := onStage(t, 80, 24, false, "")
		var did []string
		start, resume := s.Config.Start, s.Config.Resume
		s.Config.Start = func(ctx context.Context, begin screen.Start) (screen.Incident, error) {
			did = append(did, "start "+begin.Runbook)
			return start(ctx, begin)
		}
		s.Config.Resume = func(ctx context.Context, id, why string) (screen.Incident, error) {
			did = append(did, "resume "+id)
			return resume(ctx, id, why)
		}
		s.Config.OpenFor = func(string, map[string]string) []screen.SameTarget {
			return []screen.SameTarget{{IncidentRow: homeFixture("").Incidents[0], What: "directory /srv/infra/network"}}
		}
		s.toHome()
		s.settleAll(s.wait.StartWith(s.Env, screen.Start{Runbook: "state-lock"}))
		s.want(t, "An incident is open for this already", "directory /srv/infra/network", "resume 20261120-021400-state-lock-k7qd", "ana@example.org at the keyboard", "open a second one")
		s.press("enter") // alone it opens nothing
		if len(did) > 0 {
			t.Fatalf("enter alone did %v", did)
		}
		s.press(tc.key)
		_, cmd := s.Update(keyPress("enter"))
		s.settleAll(cmd)
		if fmt.Sprint(did) != "["+tc.opens+"]" {
			t.Errorf("%s did %v, want %s", tc.key, did, tc.opens)
		}
	}
}

// settleAll is settle also for a batch: what waits for another one comes after it.
func (s *stage) settleAll(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	all, batched := cmd().(tea.BatchMsg)
	if !batched {
		return
	}
	for _, c := range slices.Backward(all) {
		s.settle(c)
	}
}

// TestCopyWhatTheCursorIsOn: y hands over the row, the finding or the fact in front, and
// no notice says that the terminal took it.
func TestCopyWhatTheCursorIsOn(t *testing.T) {
	t.Parallel()
	sent := func(s *stage, keys ...string) string {
		t.Helper()
		out := ""
		for _, k := range keys {
			if _, cmd := s.Update(keyPress(k)); cmd != nil {
				out = fmt.Sprint(cmd())
			}
		}
		if got := s.screen(); strings.Contains(got, "✓ Sent") || strings.Contains(got, "Copied") || !strings.Contains(got, "It gives no answer") {
			t.Errorf("what was sent counts as taken:\n%s", got)
		}
		return out
	}
	s := onStage(t, 120, 40, false, "")
	s.toHome()
	s.press("down")
	if got := sent(s, "y"); !strings.Contains(got, "deployment/shop/checkout: too few Pods, 0 of 3 available\nwhat it says of itself\nkubectl") {
		t.Errorf("a finding of home is copied as %q", got)
	}
	s = onStage(t, 120, 40, true, "")
	s.toFinding()
	s.press("y")
	s.want(t, "Copy to the terminal's clipboard", "command", "finding", "fact ", "incident id")
	if got, want := sent(s, "1", "enter"), s.firstCommand(); got != want || want == "" {
		t.Errorf("the command is copied as %q, want %q", got, want)
	}
	s.press("e")
	if got := sent(s, "y"); !strings.Contains(got, " entry ") || !strings.HasPrefix(got, "2026-") {
		t.Errorf("an entry is copied as %q", got)
	}
}

func (s *stage) firstCommand() string {
	st, _ := s.run.Snap.State.Step(s.run.Focus)
	return st.Command
}

// TestNothingIsUnderEnterUntilItIsChosen: where no incident is open, the first keys are
// for an error text, and ↓ goes to the first row.
func TestNothingIsUnderEnterUntilItIsChosen(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	data := homeFixture("")
	data.Incidents = data.Incidents[1:] // of a drill alone
	s.Update(home.HomeMsg{Data: data})
	s.want(t, "▸ enter  Paste an error", "Unfinished drills: 1")
	s.press("enter")
	if s.At != screen.AtMatch {
		t.Errorf("enter leads to %s", s.At)
	}
	s.press("esc", "up")
	s.want(t, "▸ enter  Open 20261102-hotfix")
}

// TestDrillTellsItsStory: the first screen of a drill says what happened, what is there
// and what winning takes; a drill that was walked on goes on, and a key tells it again.
func TestDrillTellsItsStory(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.Config.Story = func(screen.Incident) *screen.Story {
		return &screen.Story{Title: "The runner was killed", Happened: "Every plan ends in an error.", Goal: "The lock is gone if nothing alive holds it.", There: []steps.KV{{Key: "dir", Value: "/lab/work"}}}
	}
	story := []string{"Drill: The runner was killed", "WHAT HAPPENED", "Every plan ends in an error.", "WHAT IS THERE", "dir: /lab/work", "WHAT WINNING TAKES", "The lock is gone if nothing alive holds it.", "enter begin"}
	s.enterIncident(s.bench)
	s.want(t, story...)
	s.press("enter")
	if s.Sheet != nil || len(s.Underway) > 0 {
		t.Fatal("enter does more than to begin")
	}
	s.press("D")
	s.want(t, story...)
	s.press("enter", "r")
	s.enterIncident(s.bench)
	if s.Sheet != nil {
		t.Error("a drill that was walked on begins again")
	}
	s.Config.Story = nil
	s.press("D")
	s.want(t, "This is a real incident, and no drill.")
}

// TestRefusedParametersComeBack: an incident that cannot be opened with them asks again,
// with what was typed and why.
func TestRefusedParametersComeBack(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.Config.Start = func(context.Context, screen.Start) (screen.Incident, error) {
		return nil, errors.New("/srv/nowhere is no directory")
	}
	s.toHome()
	s.settle(s.wait.StartWith(s.Env, screen.Start{Runbook: "partial-apply"}))
	s.write("/srv/nowhere")
	_, cmd := s.Update(keyPress("enter"))
	s.settleAll(cmd)
	s.want(t, "Start partial-apply", "/srv/nowhere", "/srv/nowhere is no directory")
}
