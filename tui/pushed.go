package tui

import (
	"time"

	"handrail/session"
	"handrail/tui/ink"
)

// heard is a tape whose entries come with copies that somebody pushes, and which
// are as old as the newest of them. A [session.Pushed] is one.
type heard interface{ Heard() session.Heard }

const (
	// silent is how long a place may say nothing before that is said.
	silent = 30 * time.Second
	// stale is from when on a copy is called so.
	stale = 2 * time.Minute
)

// pushed says how the copy stands that is shown, false where it is none.
func (m *model) pushed() (session.Heard, bool) {
	if h, ok := m.tape.(heard); ok {
		return h.Heard(), true
	}
	return session.Heard{}, false
}

// copyAge says that what is shown is a pushed copy, how old it is, and when that is
// too old to go by.
func (m *model) copyAge() ink.Drawn {
	h, ok := m.pushed()
	if !ok {
		return ""
	}
	th := &m.th
	age, still := m.wall.Sub(h.Stored), m.wall.Sub(h.At)
	switch {
	case m.run.closed():
		return th.Plain.On("pushed copy, closed")
	case still > silent:
		return th.Warn.On("! ") + th.Strong.On(ink.Say("pushed copy, NOT HEARD OF for %s", ink.Ago(still)))
	case age > stale:
		return th.Warn.On("! ") + th.Strong.On(ink.Say("pushed copy, STALE, %s old", ink.Ago(age)))
	}
	return th.Muted.On("pushed copy ") + th.Plain.On(ink.Ago(max(0, age))+" old")
}

// tellTrouble says once that the newest copy was not seen, and takes it back once it
// was.
func (m *model) tellTrouble() {
	r := &m.replay
	switch why := m.copyTrouble(); {
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

// copyTrouble says why the newest look at a pushed copy failed, "" where it did not.
func (m *model) copyTrouble() ink.Text {
	if h, ok := m.pushed(); ok && h.Err != "" {
		return ink.Say("The newest copy was not seen, and this one stands until then: %s", h.Err)
	}
	return ""
}
