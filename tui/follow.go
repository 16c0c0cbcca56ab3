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

// onlyLooking says why a key does nothing.
func onlyLooking(env *Env) ink.Text {
	if env.tape.Live() {
		if free := nobodyHolds(env); free != "" {
			return free
		}
		if _, ok := pushed(env); ok {
			return "This is a pushed copy: the incident is worked on elsewhere, and you only look on."
		}
		return "Another handrail has this incident: you only look on, as it goes."
	}
	return "This is a REPLAY: it shows what went on then, and nothing can be done in it."
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
