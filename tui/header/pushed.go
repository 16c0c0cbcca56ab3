package header

import (
	"time"

	"handrail/session/replay"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// pushedCopy is a tape whose entries come with pushed copies, and which
// are as old as the newest of them. A [replay.Pushed] is one.
type pushedCopy interface{ Heard() replay.Freshness }

const (
	// silent is how long a place may say nothing before that is said.
	silent = 30 * time.Second
	// stale is from when on a copy is called so.
	stale = 2 * time.Minute
)

// pushed says how the copy stands that is shown, false where it is none.
func pushed(env *screen.Env) (replay.Freshness, bool) {
	if h, ok := env.Tape.(pushedCopy); ok {
		return h.Heard(), true
	}
	return replay.Freshness{}, false
}

// copyAge says that what is shown is a pushed copy, how old it is, and when that is
// too old to go by.
func copyAge(env *screen.Env) ink.Drawn {
	h, ok := pushed(env)
	if !ok {
		return ""
	}
	th := &env.Theme
	age, still := env.Wall.Sub(h.Stored), env.Wall.Sub(h.At)
	switch {
	case env.Closed():
		return th.Plain.On("pushed copy, closed")
	case still > silent:
		return th.Warn.On("! ") + th.Strong.On(ink.Say("pushed copy, NO UPDATE for %s", ink.Ago(still)))
	case age > stale:
		return th.Warn.On("! ") + th.Strong.On(ink.Say("pushed copy, STALE, %s old", ink.Ago(age)))
	}
	return th.Muted.On("pushed copy ") + th.Plain.On(ink.Ago(max(0, age))+" old")
}

// CopyTrouble says why the newest look at a pushed copy failed, "" where it did not.
func CopyTrouble(env *screen.Env) ink.Text {
	if h, ok := pushed(env); ok && h.Err != "" {
		return ink.Say("The newest copy could not be read; this is the one before: %s", h.Err)
	}
	return ""
}
