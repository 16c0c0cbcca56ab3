package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/screen"
)

// TestLiveOutput: what a probe prints is followed until the user scrolls up,
// searched and saved as an artifact is, and stays when the step ends.
func TestLiveOutput(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toLive()
	s.want(t, "● running", "12001 │", "line 11,986 of 12,001", "following the end")
	more := func(from, to int) {
		for i := from; i < to; i++ {
			s.bench.print(id("lock"), fmt.Sprintf("more %d", i))
		}
		s.hear()
	}
	more(0, 50)
	s.want(t, "more 49", "of 12,051")
	s.press("pgup")
	page := func() string { return strings.Join(strings.Split(s.screen(), "\n")[4:18], "\n") }
	before := page()
	more(50, 90)
	s.want(t, "of 12,091", "running: end follows")
	if got := page(); got != before {
		t.Errorf("the page moved by itself from\n%s\nto\n%s", before, got)
	}
	s.press("/")
	s.write("conflict")
	s.press("enter")
	s.want(t, "“conflict” in line 13 of 12,091")
	s.press("esc", "end")
	more(90, 100)
	s.want(t, "more 99", "following the end")
	s.press("1", "3", "enter")
	s.want(t, "▸ lock", "[ERROR] provider.example")
	s.press("end")

	var saved strings.Builder
	s.Config.Save = func(_ context.Context, name string, from io.Reader) (string, error) {
		_, err := io.Copy(&saved, from)
		return "/tmp/" + name, err
	}
	s.press("s")
	s.write("x.log")
	s.press("enter")
	if got := strings.Count(saved.String(), "\n"); got != 12_101 {
		t.Errorf("%d lines were saved", got)
	}

	s.bench.endProbe(id("lock"), triage.ProbeEnd{Outcome: "timeout", Summary: "context deadline exceeded"})
	s.hear()
	s.want(t, "ended: ! timed out", "more 99")
	s.press("pgup", "esc")
	if s.At != screen.AtRun || s.run.Focus != id("lock") || s.evidence.View != nil {
		t.Error("esc does not go back to the step")
	}
}

// TestLiveOutputDropsTheOldest: beyond the cap the oldest lines go, it is said, and
// a page that is read does not become an error.
func TestLiveOutputDropsTheOldest(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.bench.slow = map[string]bool{id("lock"): true}
	s.press("r", "v")
	s.want(t, "No output yet.")
	print := func(n int) {
		x, _ := s.run.Running(id("lock"))
		for i := range n {
			x.Log.Print(fmt.Sprintf("%06d %s", i, strings.Repeat("x", 1000)))
		}
		s.hear()
	}
	print(5000)
	s.press("pgup")
	print(20_000)
	v := s.evidence.View
	if v.Err != "" || len(v.Page.Rows) == 0 || v.Printed.Lost == 0 {
		t.Fatalf("the page has %d rows, %d lines went: %s", len(v.Page.Rows), v.Printed.Lost, v.Err)
	}
	s.want(t, "lines were dropped")
	s.press("home")
	s.want(t, fmt.Sprintf("1 │ %06d", v.Printed.Lost-5000))
	s.press("end")
	s.want(t, "019999", "following")
	if s.evidence.View.Err != "" {
		t.Error(errors.New(string(s.evidence.View.Err)))
	}
}

// TestActOutput: what an act prints is read in the same way, and the act goes on.
func TestActOutput(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.bench.hold = true
	s.toGate()
	s.write(s.bench.preview.Phrase)
	s.press("enter")
	s.pass(gate.Grace)
	s.want(t, "v what it prints")
	sent := len(s.bench.sent)
	s.press("v")
	s.want(t, "unlock", "● running", "tofu force-unlock")
	s.press("esc")
	if s.At != screen.AtRun || s.gate != nil || !s.run.Acting() || len(s.bench.sent) != sent {
		t.Errorf("after looking: screen %q, acting %v, %d intents", s.At, s.run.Acting(), len(s.bench.sent)-sent)
	}
	s.want(t, "v output")
}
