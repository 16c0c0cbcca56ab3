package tui

import (
	"context"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/home"
	"handrail/tui/screen"
)

// TestEnterOpensTheRowThatWasRead: rows that come while the home screen loads never
// move another one under enter.
func TestEnterOpensTheRowThatWasRead(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	data := homeFixture("")
	data.Incidents, data.Debts = nil, nil
	s.Update(home.HomeMsg{Data: data})
	s.want(t, "▸ enter  Paste an error")
	s.Config.Centre = func(context.Context, func(steps.Answer)) {}
	s.home.Ask(s.Env)
	for _, a := range centreFixture("") {
		s.Update(home.AnswerMsg{Run: s.home.Centre.Run, A: a})
		s.want(t, "▸ enter  Paste an error", "RIGHT NOW")
	}
	s.Update(home.HomeMsg{Data: homeFixture("")})
	s.want(t, "▸ enter  Paste an error")
	s.press("down")
	s.want(t, "▸ enter  Resume 20261120-021400-state-lock-k7qd")
}

// TestIncidentsComeBeforeAnswers: answers that are faster than the list of incidents
// take no place of theirs under enter.
func TestIncidentsComeBeforeAnswers(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	h := &home.Screen{}
	s.Config.Centre = func(context.Context, func(steps.Answer)) {}
	h.Ask(s.Env)
	for _, a := range centreFixture("") {
		h.Hear(s.Env, home.AnswerMsg{Run: h.Centre.Run, A: a})
	}
	if len(h.Rows) != 0 {
		t.Errorf("before the incidents are read enter would open %+v", h.Rows[h.At])
	}
	h.Hear(s.Env, home.HomeMsg{Data: homeFixture("")})
	if len(h.Rows) == 0 || h.At != 0 || h.Rows[0].ID != "20261120-021400-state-lock-k7qd" {
		t.Errorf("enter would open row %d of %+v, want the open incident", h.At, h.Rows)
	}
}

// TestConditionsAreQuotedAsTheirQuestion: what shuts a gate names the question by its
// words, with the number that goes to it, at the gate and on its step.
func TestConditionsAreQuotedAsTheirQuestion(t *testing.T) {
	t.Parallel()
	const question = "“Is the process that holds this lock still running?”"
	for name, at := range map[string]func(*stage){
		"step": func(*stage) {},
		"gate": func(s *stage) { s.press("g"); s.pass(gate.Grace) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 140, 45, true, "")
			s.run.Front(id("unlock"))
			s.run.Decide()
			at(s)
			got := strings.Join(strings.Fields(s.screen()), " ")
			for _, bad := range []string{"answers.", "(law", "facts."} {
				if strings.Contains(got, bad) {
					t.Errorf("the screen says %q:\n%s", bad, s.screen())
				}
			}
			if !strings.Contains(got, "go to what it needs") {
				t.Fatalf("no number goes to a question:\n%s", s.screen())
			}
			o, _ := s.run.Option(triage.DoPreview, id("unlock"))
			met := s.run.Met(id("unlock"), o.Refusals)
			if len(met) == 0 {
				t.Fatal("nothing can be gone to")
			}
			n := len(met)
			s.press(string(rune('0' + n)))
			if s.gate != nil || s.run.Focus != met[n-1] {
				t.Errorf("%d went to %s, want %s", n, s.run.Focus, met[n-1])
			}
		})
	}
	s := onStage(t, 80, 24, true, "")
	if got := string(s.run.InWords(id("unlock"), "Make it true: answers.holder == 'dead'")); got != "Answer "+question+" with dead." {
		t.Errorf("the cure is %q", got)
	}
	if got := string(s.run.InWords(id("unlock"), "Find out: answers.holder, facts.lock.age")); got != "Find out: "+question+", “The lock as it is now” age" {
		t.Errorf("the cure is %q", got)
	}
}

// TestStepAndGateAgree: a gate that was refused when its target was read is not called
// free on its step.
func TestStepAndGateAgree(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toReady()
	s.bench.record(triage.GateClosed{Step: id("unlock"), Why: "the lock is 2 min old", Refused: true})
	s.hear()
	s.run.Front(id("unlock"))
	s.run.Decide()
	s.want(t, "Refused when it was last tried: the lock is 2 min old")
	if strings.Contains(s.screen(), "Nothing blocks") {
		t.Errorf("the step calls the gate free:\n%s", s.screen())
	}
}

// TestGateScrolls by a line and by a page, while the phrase is typed and after a wrong one.
func TestGateScrolls(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toDiff()
	s.View()
	s.press("x", "enter") // keys of the grace still scroll
	s.press("down", "down")
	if s.View(); s.gate.Off != 2 {
		t.Errorf("two lines down is at %d", s.gate.Off)
	}
	s.press("up", "pgdown")
	if s.View(); s.gate.Off < 4 {
		t.Errorf("a page down is at %d", s.gate.Off)
	}
	s.want(t, "type     patch job/payments/migrate-42")
}

// TestWallIsFolded: the same words in many lines take a few, and v shows them all.
func TestWallIsFolded(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	end := s.bench.probes[id("lock")]
	end.Gaps = []string{strings.Repeat("forbidden: ana may not list leases in infra; ", 20) + "THE END"}
	s.bench.probes[id("lock")] = end
	s.press("r")
	s.want(t, "more lines: v")
	if strings.Contains(s.screen(), "THE END") {
		t.Errorf("the wall is shown whole:\n%s", s.screen())
	}
	s.press("v", "pgdown", "pgdown")
	s.want(t, "THE END")
	if s.At != screen.AtRun {
		t.Errorf("v left the step for %s", s.At)
	}
}

// TestLongPasteKeepsBothEnds and says what was cut.
func TestLongPasteKeepsBothEnds(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	line := strings.Repeat("x", 99) + "\n"
	s.settle(s.match.Add("FIRST LINE\n"+strings.Repeat(line, 8000)+"LAST LINE\n", s.Env))
	s.At = screen.AtMatch
	if txt := s.match.Said.Text; !strings.HasPrefix(txt, "FIRST LINE\n") || !strings.HasSuffix(txt, "\nLAST LINE\n") || len(txt) > 256<<10 {
		t.Errorf("%d bytes are kept, from %.20q to %q", len(txt), txt, txt[len(txt)-20:])
	}
	s.want(t, "of its middle were cut", "Its first 64.0 KiB and its end")
	s.press("ctrl+u")
	if strings.Contains(s.screen(), "were cut") {
		t.Error("a cleared text is said to be cut")
	}
}

// TestReplayGoesToWhatMatters: n and N go from gate to act to finding.
func TestReplayGoesToWhatMatters(t *testing.T) {
	t.Parallel()
	tape := recorded(t, "", (*stage).toDone)
	s := onTape(t, tape, 80, 24)
	s.press("home")
	var seen []string
	for range 40 {
		at, _ := tape.Place()
		s.press("n")
		if now, _ := tape.Place(); now == at {
			break
		}
		seen = append(seen, tape.Recorded().Type)
		if len(s.Underway) != 0 || s.Sheet != nil {
			t.Fatal("n asked for something")
		}
	}
	all := strings.Join(seen, " ")
	for _, want := range []string{"probe.end", "gate.shown", "act.start", "act.end"} {
		if !strings.Contains(all, want) {
			t.Errorf("n did not stop at a %s: %s", want, all)
		}
	}
	s.want(t, "no further gate, act or finding")
	s.press("N")
	if got := tape.Recorded().Type; got != seen[len(seen)-2] {
		t.Errorf("N went to a %s", got)
	}
}

// TestKeysWaitForTheRecord: while an answer is on its way into the journal its
// question is still shown, and no key answers it twice or opens what does.
func TestKeysWaitForTheRecord(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toForm()
	s.write("no process on the runner")
	_, recorded := s.Update(keyPress("enter"))
	s.want(t, "Recording what you said")
	for _, k := range []string{"enter", "2", "u", "o", "a", "x", "w", "c", "S"} {
		s.press(k)
		if s.Sheet != nil || len(s.Underway) != 1 {
			t.Fatalf("%s opened %v, %d intents are under way", k, s.Sheet, len(s.Underway))
		}
	}
	s.settle(recorded)
	if st, _ := s.run.Snap.State.Step(id("holder")); st.Status != triage.Settled {
		t.Errorf("holder is %s", st.Status)
	}
	if strings.Contains(s.screen(), "Recording") {
		t.Error("it is still said to be recording")
	}
}
