package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/header"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// looking is how often a journal that another handrail writes is looked at.
const looking = 500 * time.Millisecond

// lookMsg says that it is time to look at the journal again, grownMsg what came
// of it. Both carry their tape: one of an incident that was left does nothing.
type (
	lookMsg  struct{ tape screen.Tape }
	grownMsg struct {
		tape screen.Tape
		n    int
	}
)

// thread puts a tape in front: a replay at its place, a live one at its end.
func (m *model) thread(tape screen.Tape) {
	m.Tape, m.replay = tape, playback{playing: tape.Live()}
	at, _ := tape.Place()
	m.goTo(at)
	if tape.Live() {
		m.Warn("warning", ink.Or(header.KeyboardFree(m.Env), header.OnlyLooking(m.Env)))
	}
}

func (m *model) lookAgain() tea.Cmd {
	tape := m.Tape
	if tape == nil || !tape.Live() {
		return nil
	}
	return tea.Tick(looking, func(time.Time) tea.Msg { return lookMsg{tape} })
}

// look reads beside the loop: the journal may lie on a slow disk.
func (m *model) look(msg lookMsg) tea.Cmd {
	if msg.tape != m.Tape {
		return nil
	}
	return m.Tasks.Start(func(context.Context) tea.Msg { return grownMsg{msg.tape, msg.tape.Grow()} })
}

func (m *model) grown(msg grownMsg) tea.Cmd {
	if msg.tape != m.Tape {
		return nil
	}
	if msg.n > 0 && m.replay.playing {
		_, last := msg.tape.Place()
		m.goTo(last)
		if free := header.KeyboardFree(m.Env); free != "" {
			m.Warn("warning", free)
		}
	}
	m.tellTrouble()
	return m.lookAgain()
}

// tellTrouble says once that the newest copy was not seen, and takes it back once it
// was.
func (m *model) tellTrouble() {
	r := &m.replay
	switch why := header.CopyTrouble(m.Env); {
	case why == r.trouble:
	case why != "":
		m.Warn("warning", why)
		r.trouble = why
	default:
		if m.Notice.Text == r.trouble {
			m.Notice = screen.Notice{}
		}
		r.trouble = ""
	}
}
