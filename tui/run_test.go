package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/home"
	"handrail/tui/match"
	"handrail/tui/screen"
	"handrail/tui/wait"
)

// TestEnterAnswersNothing: ten screens of enter at two in the morning run reads
// and accept proposals, but they neither answer a question nor open a gate.
func TestEnterAnswersNothing(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	for range 40 {
		s.press("enter")
	}
	for _, in := range s.bench.sent {
		switch in.Kind {
		case triage.DoProbe, triage.DoConclude:
		default:
			t.Errorf("enter sent %q", in.Kind)
		}
	}
	s.want(t, "Choose first: a number")
}

func TestKeysBecomeIntents(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		at   string
		keys []string
		want triage.Intent
	}{
		"read":       {"state", []string{"r"}, triage.Intent{Kind: triage.DoProbe, Step: id("state")}},
		"answer":     {"holder", []string{"1", "x", "enter"}, triage.Intent{Kind: triage.DoAnswer, Step: id("holder"), Value: "alive", Text: "x"}},
		"arrows":     {"holder", []string{"down", "down", "enter", "x", "enter"}, triage.Intent{Kind: triage.DoAnswer, Step: id("holder"), Value: "dead", Text: "x"}},
		"unknown":    {"holder", []string{"u", "x", "enter", "y", "enter"}, triage.Intent{Kind: triage.DoAnswer, Step: id("holder"), Value: triage.Unknown, Text: "asked: x; again: y"}},
		"conclude u": {"changed", []string{"u", "x", "enter", "enter"}, triage.Intent{Kind: triage.DoConclude, Step: id("changed"), Topic: triage.TopicMutation, Value: triage.Unknown, Text: "asked: x"}},
		"accept":     {"changed", []string{"a", "enter"}, triage.Intent{Kind: triage.DoConclude, Step: id("changed"), Topic: triage.TopicMutation, Value: "yes"}},
		"override":   {"changed", []string{"o", "2", "enter", "x", "enter", "y", "enter"}, triage.Intent{Kind: triage.DoConclude, Step: id("changed"), Topic: triage.TopicMutation, Value: "no", Text: "x", Person: "y"}},
		"waive":      {"state", []string{"w", "p", "enter", "x", "enter"}, triage.Intent{Kind: triage.DoWaive, Law: 1, Step: id("state"), Person: "p", Text: "x"}},
		"skip":       {"log", []string{"s", "x", "enter"}, triage.Intent{Kind: triage.DoSkip, Step: id("log"), Text: "x"}},
		"note":       {"lock", []string{"t", "x", "enter"}, triage.Intent{Kind: triage.DoNote, Text: "x"}},
		"severity":   {"lock", []string{"S", "2", "enter", "x", "enter"}, triage.Intent{Kind: triage.DoSeverity, Severity: triage.Sev2, Text: "x"}},
		"close":      {"lock", []string{"c", "3", "enter", "x", "enter", "a", "b", "o", "r", "t", "e", "d", "enter"}, triage.Intent{Kind: triage.DoClose, Value: "aborted", Text: "x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			s.run.Front(id(tc.at))
			s.run.Decide()
			s.press(tc.keys...)
			if len(s.bench.sent) != 1 {
				t.Fatalf("%d intents were sent, want 1: %+v", len(s.bench.sent), s.bench.sent)
			}
			got := s.bench.sent[0]
			tc.want.Seen = 3 // what the person had seen: the three opening entries
			if got.Kind != tc.want.Kind || got.Step != tc.want.Step || got.Value != tc.want.Value || got.Text != tc.want.Text || got.Topic != tc.want.Topic ||
				got.Person != tc.want.Person || got.Law != tc.want.Law || got.Severity != tc.want.Severity || got.Seen != tc.want.Seen {
				t.Errorf("sent %+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestRequiredWords: a sheet is not sent while a line of it is missing.
func TestRequiredWords(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.run.Front(id("holder"))
	s.press("1", "enter", "enter", " ")
	s.press("enter")
	if len(s.bench.sent) != 0 {
		t.Errorf("an answer without its how was sent: %+v", s.bench.sent)
	}
	s.want(t, "is required")
}

// TestWatchSamplesItself: one sample a window, and none once it is complete.
func TestWatchSamplesItself(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toWatch()
	if cmd := s.run.SampleWhenDue(s.Env); cmd != nil {
		t.Error("a sample was taken before it was due")
	}
	s.pass(8 * time.Second)
	cmd := s.run.SampleWhenDue(s.Env)
	if cmd == nil {
		t.Fatal("no sample was taken when it was due")
	}
	if again := s.run.SampleWhenDue(s.Env); again != nil {
		t.Error("a second sample was asked for while the first was under way")
	}
	s.settle(cmd)
	s.pass(time.Minute)
	if cmd := s.run.SampleWhenDue(s.Env); cmd != nil {
		t.Error("a complete window was sampled again")
	}
}

func TestLateAnswersAreDropped(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toMatch()
	s.Update(match.HitsMsg{Seq: s.match.Seq - 1, Hits: []screen.Hit{{Runbook: "old"}}})
	s.want(t, "state-lock")

	late := newBench(s.clock.now, "")
	s.model.wait.Open(s.model.Env, "opening", func(context.Context, func(string)) (screen.Incident, error) { return late, nil })
	s.press("esc")
	_, cmd := s.Update(wait.OpenedMsg{Seq: s.wait.Seq - 1, Inc: late})
	s.Tasks.Keep(late)
	s.settle(cmd)
	if err := s.Tasks.Finish(); err != nil || !late.closed || s.Incident != nil {
		t.Errorf("an incident that came too late: closed %v, shown %v, %v", late.closed, s.Incident != nil, err)
	}
}

func TestTroubleIsSaid(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		do   func(*stage)
		says string
	}{
		"home": {func(s *stage) { s.Update(home.HomeMsg{Err: errors.New("reading the incidents: permission denied")}) }, "permission denied"},
		"opening": {func(s *stage) {
			s.At, s.wait.Seq = screen.AtWait, 1
			s.Update(wait.OpenedMsg{Seq: 1, Err: errors.New("the bundle is locked by another handrail")})
		}, "locked by another handrail"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, false, "")
			tc.do(s)
			s.want(t, tc.says)
		})
	}
}

// TestLongTargetKeepsThePhrase: whatever a target holds, the phrase and the
// line to type it on stay on the screen.
func TestLongTargetKeepsThePhrase(t *testing.T) {
	t.Parallel()
	s := onStage(t, 60, 18, true, "")
	for range 30 {
		s.bench.preview.Target = append(s.bench.preview.Target, steps.KV{Key: "field", Value: strings.Repeat("long ", 40)})
	}
	s.toGate()
	s.want(t, "force-unlock", "phrase ▸", "more lines")
}

// TestEveryKeyOnEveryScreen: no key panics, and every frame is of the right size.
func TestEveryKeyOnEveryScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	all := []string{"enter", "esc", "up", "down", "pgdown", "pgup", "tab", "backspace", "?", "/", "[", "]"}
	for r := 'a'; r <= 'z'; r++ {
		all = append(all, string(r))
	}
	all = append(all, "1", "2", "9", "S", "enter", "esc")
	for name, to := range map[string]func(*stage){"run": func(*stage) {}, "ask": (*stage).toAsk, "gate": (*stage).toGate, "watch": (*stage).toWatch,
		"debrief": (*stage).toDebrief, "evidence": (*stage).toEvidence} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, first := range all {
				s := onStage(t, 80, 24, true, "")
				to(s)
				for _, then := range []string{first, "enter", "2", "x", "enter", first, "esc", "c", "1", first, "enter"} {
					s.pass(gate.Grace)
					if s.Incident == nil {
						break
					}
					s.press(then)
					if rows := strings.Count(s.View().Content, "\n") + 1; rows != 24 {
						t.Fatalf("%s then %s: %d rows", first, then, rows)
					}
				}
			}
		})
	}
}

func TestNoSizeYet(t *testing.T) {
	t.Parallel()
	m := newModel(t.Context(), configFixture(opened, ""))
	if got := m.View().Content; got != "" {
		t.Errorf("a frame was drawn before the size was known: %q", got)
	}
	m.Update(tea.WindowSizeMsg{Width: 1, Height: 1})
	m.View()
}

// TestEscapeAndAbortAsOne: a terminal behind a slow line gives esc and ctrl+c in
// one read, which parses as alt+ctrl+c.
func TestEscapeAndAbortAsOne(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	if cmd := s.model.press(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl | tea.ModAlt}); cmd == nil {
		t.Error("esc and ctrl+c in one read do not leave the program")
	}
	s = onStage(t, 80, 24, true, "")
	s.press("?")
	s.model.press(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt})
	if s.model.help != nil {
		t.Error("two escapes in one read do not close the help")
	}
}
