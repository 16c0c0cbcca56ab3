package match

import (
	"sync"
	"sync/atomic"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// TestEnterAsksForTheBestHit drives the screen without the program around it: a text is pasted, the hits arrive, and enter
// asks for the first runbook with what the text says of its parameters. Hits for an older text are dropped.
func TestEnterAsksForTheBestHit(t *testing.T) {
	t.Parallel()
	var asked []screen.Request
	hit := screen.Hit{Runbook: "state-lock", Params: map[string]string{"dir": "."}}
	env := &screen.Env{Keys: keymap.New(nil), Tasks: &screen.Tasks{Ctx: t.Context()},
		Config: screen.Config{Match: func(string) []screen.Hit { return []screen.Hit{hit, {Runbook: "partial-apply"}} }},
		Ask:    func(r screen.Request) tea.Cmd { asked = append(asked, r); return nil }}
	s := &Screen{}
	old := s.Paste(env, "Error acquiring ")()
	if _, mine := s.Hear(env, s.Paste(env, "the state lock")()); !mine || len(s.hits) != 2 {
		t.Fatalf("%d hits, taken: %v", len(s.hits), mine)
	}
	s.Press(env, tea.KeyPressMsg{Code: tea.KeyDown})
	if s.Hear(env, old); s.at != 1 {
		t.Error("hits for an older text were taken")
	}
	s.Press(env, tea.KeyPressMsg{Code: tea.KeyUp})
	s.Press(env, tea.KeyPressMsg{Code: tea.KeyEnter})
	want := []screen.Request{screen.Start{Runbook: "state-lock", Given: hit.Params, Look: true, Text: "Error acquiring the state lock"}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("enter asks (-want +got):\n%s", diff)
	}
	env.Config.Match = func(string) []screen.Hit { return nil }
	env.Config.Nearest = func(string) []screen.Hit { return []screen.Hit{{Runbook: "hung-apply"}} }
	asked = nil
	s.Hear(env, s.Paste(env, " of something else")())
	if s.Press(env, tea.KeyPressMsg{Code: tea.KeyEnter}); len(s.near) != 1 || len(asked) != 0 || s.move() != "" {
		t.Errorf("what is near is %v, and enter asks for %v", s.near, asked)
	}
	for _, code := range []rune{tea.KeyUp, tea.KeyEnter, tea.KeyDown, tea.KeyDown, tea.KeyEnter} {
		s.Press(env, tea.KeyPressMsg{Code: code})
	}
	if diff := cmp.Diff([]screen.Request{screen.Start{Runbook: "hung-apply", Look: true, Text: "Error acquiring the state lock of something else"}}, asked); diff != "" {
		t.Errorf("enter asks for what was chosen (-want +got):\n%s", diff)
	}
	if s.Press(env, tea.KeyPressMsg{Code: tea.KeyEscape}); env.At != screen.AtHome {
		t.Errorf("esc leads to %q", env.At)
	}
}

// TestTypingIsRankedOnce: while one text is ranked, of all that is typed meanwhile the
// newest is ranked alone.
func TestTypingIsRankedOnce(t *testing.T) {
	t.Parallel()
	var ranked atomic.Int32
	begun, release := make(chan struct{}), make(chan struct{})
	env := &screen.Env{Keys: keymap.New(nil), Tasks: &screen.Tasks{Ctx: t.Context()}, Config: screen.Config{Match: func(text string) []screen.Hit {
		if ranked.Add(1) == 1 {
			close(begun)
			<-release
		}
		return []screen.Hit{{Runbook: text}}
	}}}
	s := &Screen{}
	var wg sync.WaitGroup
	msgs := make(chan tea.Msg, 101)
	start := func(cmd tea.Cmd) { wg.Go(func() { msgs <- cmd() }) }
	start(s.Paste(env, "x"))
	<-begun
	for range 100 {
		start(s.Paste(env, "x"))
	}
	close(release)
	wg.Wait()
	close(msgs)
	for msg := range msgs {
		s.Hear(env, msg)
	}
	if n := ranked.Load(); n != 2 {
		t.Errorf("%d texts were ranked, want the first and the newest", n)
	}
	if hit, ok := s.chosen(); !ok || len(hit.Runbook) != 101 {
		t.Errorf("the hits are those of %q", hit.Runbook)
	}
}
