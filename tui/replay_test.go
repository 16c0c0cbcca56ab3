package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"handrail/evidence"
	"handrail/session/replay"
	"handrail/session/view"
	"handrail/steps/catalog"
	"handrail/triage"
	"handrail/tui/screen"
)

// recorded writes what happened on a stage into a real bundle, and opens it
// again as a replay.
func recorded(t *testing.T, hostile string, to func(*stage)) *replay.Tape {
	t.Helper()
	s := onStage(t, 80, 24, true, hostile)
	to(s)
	now := opened()
	dir := t.TempDir()
	b, err := evidence.Create(dir, "20261120-021400-state-lock-k7qd", evidence.Options{Now: func() time.Time { return now }, Host: "bridge", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.bench.tape {
		now = e.At
		if _, err := b.Append(t.Context(), evidence.Draft{Type: e.Body.Type(), Actor: e.Actor, Step: stepIn(t, e.Body), Data: e.Body}); err != nil {
			t.Fatal(err)
		}
	}
	path := b.Path()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := replay.Open(path, replay.Config{Catalog: catalog.New()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Ends() != "" {
		t.Fatalf("the replay ends early: %s", r.Ends())
	}
	return r
}

func stepIn(t *testing.T, b triage.Body) string {
	t.Helper()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Step string `json:"step"`
	}
	_ = json.Unmarshal(raw, &v) // an event without a step has none
	return v.Step
}

// onTape shows a replay.
func onTape(t *testing.T, tape screen.Tape, w, h int) *stage {
	t.Helper()
	s := &stage{clock: &clockwork{opened()}}
	s.model = newModel(t.Context(), screen.Config{Now: s.clock.now, Version: "0.1.0", Replay: tape, Status: statusFixture})
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

// find is the number of the first entry of a type.
func find(t *testing.T, tape screen.Tape, typ string) int {
	t.Helper()
	_, last := tape.Place()
	for i := range last + 1 {
		if tape.Go(i); tape.Recorded().Type == typ {
			return i
		}
	}
	t.Fatalf("nothing of type %s was recorded", typ)
	return 0
}

func (s *stage) jump(n int) {
	s.write(fmt.Sprint(n))
	s.press("enter")
}

func TestReplayScreens(t *testing.T) {
	t.Parallel()
	screens := map[string]func(*testing.T, *stage, screen.Tape){
		"first":    func(*testing.T, *stage, screen.Tape) {},
		"probe":    func(t *testing.T, s *stage, r screen.Tape) { s.jump(find(t, r, "probe.end")) },
		"gate":     func(t *testing.T, s *stage, r screen.Tape) { s.jump(find(t, r, "gate.shown")) },
		"answered": func(t *testing.T, s *stage, r screen.Tape) { s.jump(find(t, r, "gate.answered")) },
		"acted":    func(t *testing.T, s *stage, r screen.Tape) { s.jump(find(t, r, "act.end")) },
		"last":     func(_ *testing.T, s *stage, _ screen.Tape) { s.press("end") },
		"evidence": func(_ *testing.T, s *stage, _ screen.Tape) { s.press("end", "e") },
	}
	for _, size := range [][2]int{{80, 24}, {140, 45}, {60, 18}} {
		for name, to := range screens {
			t.Run(fmt.Sprintf("%s_%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				r := recorded(t, "", (*stage).toDebrief)
				r.Go(0)
				s := onTape(t, shelved{r}, size[0], size[1])
				to(t, s, r)
				s.want(t, "REPLAY")
				golden.RequireEqual(t, s.screen())
			})
		}
	}
}

// shelved is a replay whose bundle lies at the same place in every run.
type shelved struct{ *replay.Tape }

func (s shelved) Snapshot() view.Snapshot {
	snap := s.Tape.Snapshot()
	snap.Bundle = "~/.local/state/handrail/incidents/20261120-021400-state-lock-k7qd.hrb"
	return snap
}

// guarded fails the test when the face asks a replay for anything.
type guarded struct {
	*replay.Tape
	t *testing.T
}

func (g guarded) Do(_ context.Context, in triage.Intent) error {
	g.t.Errorf("the face asked a replay for %s", in.Kind)
	return errors.New("no")
}

// Every key on every entry: it says REPLAY all the time and asks for nothing.
func TestReplaySaysSoAndAsksForNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	r := recorded(t, "", (*stage).toDebrief)
	_, last := r.Place()
	keys := strings.Fields("enter esc up down pgup pgdown tab [ ] u w r s a o g f t S d b c i x / p l y ? e home end left right backspace")
	for i := 0; i <= last; i += 3 {
		s := onTape(t, guarded{r, t}, 80, 24)
		s.goTo(i)
		for _, k := range keys {
			s.press(k)
			s.Update(tea.PasteMsg{Content: "force-unlock 5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21"})
			if s.Update(tickMsg{s.ticker.n}); len(s.Underway) != 0 {
				t.Fatalf("entry %d, key %s: an intent is under way", i, k)
			}
			s.want(t, "REPLAY")
			if s.Sheet != nil {
				t.Fatalf("entry %d, key %s opened a form", i, k)
			}
		}
	}
}

func TestReplayGoesWhereItIsTold(t *testing.T) {
	t.Parallel()
	r := recorded(t, "", (*stage).toDebrief)
	r.Go(0)
	_, last := r.Place()
	s := onTape(t, r, 80, 24)
	at := func(want int) {
		t.Helper()
		if got, _ := r.Place(); got != want {
			t.Fatalf("at entry %d, want %d", got, want)
		}
		s.want(t, fmt.Sprintf("REPLAY %d/%d", want, last), fmt.Sprintf("entry %d of %d", want, last))
	}
	at(0)
	s.press("left")
	at(0)
	s.press("right", "right")
	at(2)
	s.press("left")
	at(1)
	s.jump(last - 1)
	at(last - 1)
	s.press("home")
	at(0)
	s.press("end", "right")
	at(last)
	s.jump(last + 1)
	at(last)
	s.want(t, "There is no entry")
	s.press("3", "4", "esc", "enter")
	at(last)
}

func TestReplayPlaysAtItsPace(t *testing.T) {
	t.Parallel()
	r := recorded(t, "", (*stage).toDebrief)
	r.Go(0)
	_, last := r.Place()
	s := onTape(t, r, 80, 24)
	if _, cmd := s.Update(keyPress(" ")); cmd == nil {
		t.Fatal("space starts nothing")
	}
	for i := 1; i <= last; i++ {
		_, cmd := s.Update(playMsg{s.replay.turn})
		if got, _ := r.Place(); got != i {
			t.Fatalf("after %d turns it is at entry %d", i, got)
		}
		if (cmd != nil) != (i < last) {
			t.Fatalf("entry %d of %d: goes on: %v", i, last, cmd != nil)
		}
	}
	s.Update(keyPress(" ")) // from the start again
	old := s.replay.turn
	s.Update(keyPress(" "))
	s.Update(playMsg{old})
	if got, _ := r.Place(); got != 0 {
		t.Errorf("a replay that was stopped went on to %d", got)
	}
	s.Update(keyPress(" "))
	s.Update(playMsg{old})
	if got, _ := r.Place(); got != 0 {
		t.Errorf("the turn of an earlier play moved it to %d", got)
	}
}

// A stranger's bundle cannot write to the terminal.
func TestReplayOfAStranger(t *testing.T) {
	t.Parallel()
	r := recorded(t, "\x1b]0;owned\a\u202e\x1b[2J", (*stage).toDebrief)
	_, last := r.Place()
	for i := range last + 1 {
		s := onTape(t, r, 140, 45)
		s.goTo(i)
		v := s.View()
		for _, bad := range []string{"\x1b]", "\x1b[2J", "\u202e", "\a"} {
			if strings.Contains(v.Content, bad) || strings.Contains(v.WindowTitle, bad) {
				t.Fatalf("entry %d: %q reaches the terminal", i, bad)
			}
		}
	}
}
