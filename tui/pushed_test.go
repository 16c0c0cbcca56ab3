package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"handrail/session/replay"
	"handrail/tui/screen"
)

// copyTape is a live tape whose entries come with copies.
type copyTape struct {
	shelved
	heard replay.Freshness
	grown int
}

func (c *copyTape) Live() bool              { return true }
func (c *copyTape) Grow() int               { return c.grown }
func (c *copyTape) Heard() replay.Freshness { return c.heard }

// pushedOn shows a pushed copy at its newest entry.
func pushedOn(t *testing.T, w, h int) (*stage, *copyTape) {
	t.Helper()
	tape := &copyTape{shelved: shelved{recorded(t, "", (*stage).toFinding)}}
	_, last := tape.Place()
	tape.Go(last)
	tape.heard = replay.Freshness{Place: "s3://team/x", At: opened(), Stored: opened()}
	s := onTape(t, tape, w, h)
	return s, tape
}

func (s *stage) lookOnce() {
	s.Update(s.model.look(lookMsg{s.Tape})())
}

// TestPushedCopy says that it is a copy and how old, from when on that is too old, and that the place does not answer.
func TestPushedCopy(t *testing.T) {
	t.Parallel()
	s, tape := pushedOn(t, 80, 24)
	s.want(t, "FOLLOWING", "This is a pushed copy")
	s.clock.at = opened().Add(12 * time.Second)
	tape.heard.At = s.clock.at
	s.lookOnce()
	s.want(t, "pushed copy 12s old")
	s.clock.at = opened().Add(3 * time.Minute)
	tape.heard.At = s.clock.at
	s.lookOnce()
	s.want(t, "! pushed copy, STALE, 3m 00s old")
	tape.heard.Err = "dial tcp 192.0.2.1: no route"
	s.clock.at = s.clock.at.Add(40 * time.Second)
	s.lookOnce()
	s.want(t, "NO UPDATE for 40s", "no route", "this is the one before")
	s.press("left")
	s.lookOnce()
	s.want(t, "NO UPDATE for 40s")
	s.Notice = screen.Notice{Text: s.replay.trouble}
	tape.heard.Err, tape.heard.At = "", s.clock.at
	if s.lookOnce(); s.Notice.Text != "" {
		t.Errorf("the trouble is over and still said: %q", s.Notice.Text)
	}
	s.press("g")
	s.want(t, "You follow it")
}

func TestPushedScreens(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 18}, {80, 24}, {140, 45}} {
		t.Run(fmt.Sprintf("stale_%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			s, tape := pushedOn(t, size[0], size[1])
			s.clock.at = opened().Add(3 * time.Minute)
			tape.heard.At = s.clock.at
			s.press("end")
			s.lookOnce()
			golden.RequireEqual(t, s.screen())
		})
	}
}
