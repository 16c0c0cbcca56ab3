package tui

import (
	"context"
	"handrail/tui/ink"
	"time"

	tea "charm.land/bubbletea/v2"
)

// looking is how often a journal that another handrail writes is looked at.
const looking = 500 * time.Millisecond

// lookMsg says that it is time to look at the journal again, grownMsg what came
// of it. Both carry their tape: one of an incident that was left does nothing.
type (
	lookMsg  struct{ tape Tape }
	grownMsg struct {
		tape Tape
		n    int
	}
)

// thread puts a tape in front: a replay at its place, a live one at its end.
func (m *model) thread(tape Tape) {
	m.tape, m.replay = tape, replay{playing: tape.Live()}
	at, _ := tape.Place()
	m.goTo(at)
	if tape.Live() {
		m.warn("warning", ink.Or(nobodyHolds(m.Env), onlyLooking(m.Env)))
	}
}

func (m *model) lookAgain() tea.Cmd {
	tape := m.tape
	if tape == nil || !tape.Live() {
		return nil
	}
	return tea.Tick(looking, func(time.Time) tea.Msg { return lookMsg{tape} })
}

// look reads beside the loop: the journal may lie on a slow disk.
func (m *model) look(msg lookMsg) tea.Cmd {
	if msg.tape != m.tape {
		return nil
	}
	return m.crew.start(func(context.Context) tea.Msg { return grownMsg{msg.tape, msg.tape.Grow()} })
}

func (m *model) grown(msg grownMsg) tea.Cmd {
	if msg.tape != m.tape {
		return nil
	}
	if msg.n > 0 && m.replay.playing {
		_, last := msg.tape.Place()
		m.goTo(last)
		if free := nobodyHolds(m.Env); free != "" {
			m.warn("warning", free)
		}
	}
	m.tellTrouble()
	return m.lookAgain()
}

// tellTrouble says once that the newest copy was not seen, and takes it back once it
// was.
func (m *model) tellTrouble() {
	r := &m.replay
	switch why := copyTrouble(m.Env); {
	case why == r.trouble:
	case why != "":
		m.warn("warning", why)
		r.trouble = why
	default:
		if m.notice.text == r.trouble {
			m.notice = notice{}
		}
		r.trouble = ""
	}
}
