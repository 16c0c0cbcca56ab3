package tui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/evidence"
	"handrail/session/replay"
	"handrail/steps/catalog"
	"handrail/tui/screen"
	"handrail/tui/wait"
)

// TestLookingOn follows a bundle that is being written: the newest entry comes to the front by itself, until the person goes
// back to look at an earlier one.
func TestLookingOn(t *testing.T) {
	t.Parallel()
	from := onStage(t, 80, 24, true, "")
	from.toDebrief()
	script := from.bench.tape
	now := opened()
	b, err := evidence.Create(t.TempDir(), "20261120-021400-state-lock-k7qd", evidence.Options{Host: "bridge", Version: "test", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	written := 0
	write := func(n int) {
		t.Helper()
		for _, e := range script[written : written+n] {
			now = e.At
			if _, err := b.Append(t.Context(), evidence.Draft{Type: e.Body.Type(), Actor: e.Actor, Step: stepIn(t, e.Body), Data: e.Body}); err != nil {
				t.Fatal(err)
			}
		}
		written += n
	}
	write(4)
	tape, err := replay.Follow(b.Path(), replay.Config{Catalog: catalog.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer tape.Close()
	s := onTape(t, guardedLive{tape, t}, 80, 24)
	s.want(t, "FOLLOWING 4/4", "Another handrail has this incident")
	grow := func() {
		t.Helper()
		cmd := s.model.look(lookMsg{s.Tape})
		s.Update(cmd())
	}
	at := func(want int) {
		t.Helper()
		s.want(t, fmt.Sprintf("FOLLOWING %d/%d", want, written))
	}
	write(3)
	grow()
	at(7)
	s.press("left")
	at(6)
	write(2)
	grow()
	at(6)
	s.press("end")
	at(9)
	write(1)
	grow()
	at(10)
	for _, key := range []string{"g", "d", "c", "x", "S", "t", "w", "z", "A"} {
		s.press(key)
		s.want(t, "You follow it")
		if s.Sheet != nil {
			t.Fatalf("%s opened a form", key)
		}
	}
	s.press("U")
	s.want(t, "Status update, sent to the terminal's clipboard")
	s.press("esc", "left", "space")
	at(10)
	// What an earlier tape still says does nothing.
	if cmd := s.model.grown(grownMsg{nil, 3}); cmd != nil {
		t.Error("a tape that was left goes on")
	}
	write(len(script) - written)
	grow()
	at(len(script))
}

// guardedLive fails the test when the face asks for anything.
type guardedLive struct {
	*replay.Tape
	t *testing.T
}

// TestLookingOnFromHome opens an incident that another handrail has from the list, and comes back.
func TestLookingOnFromHome(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.model.At, s.model.Incident = screen.AtHome, nil
	r := recorded(t, "", (*stage).toDebrief)
	tape, err := replay.Follow(r.Snapshot().Bundle, replay.Config{Catalog: catalog.New()})
	if err != nil {
		t.Fatal(err)
	}
	s.model.At = screen.AtWait
	s.model.wait.Opened(s.model.Env, wait.OpenedMsg{Seq: s.model.wait.Seq, Inc: tape})
	s.want(t, "FOLLOWING")
	s.press("q")
	s.want(t, "command centre")
	if s.Replaying() {
		t.Error("home is still a replay")
	}
}

// TestStatusUpdate copies the update and shows it, and every other key puts nothing in the clipboard.
func TestStatusUpdate(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	cmd := s.model.run.Press(s.model.Env, tea.KeyPressMsg{Code: 'U', Text: "U"})
	if cmd == nil || fmt.Sprint(cmd()) != "update for "+s.run.Snap.State.Incident+"\nsecond line\n" {
		t.Fatalf("the clipboard got %v", cmd)
	}
	s.want(t, "Status update, sent to the terminal's clipboard", "second line", "enter back")
	s.Update(tea.PasteMsg{Content: "x"})
	s.press("down", "up", "enter")
	if s.Sheet != nil {
		t.Error("enter does not put it away")
	}
}
