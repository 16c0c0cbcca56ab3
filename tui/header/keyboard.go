package header

import (
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// atKeyboard says who is at the keyboard where that changed, and warns where
// it is free.
func atKeyboard(env *screen.Env) ink.Drawn {
	th, s := &env.Theme, env.Snap.State
	switch {
	case s.GivenOver():
		return th.Warn.On("! ") + th.Strong.On(ink.Say("handed over to %s", s.Handed.For))
	case s.Handed.Seq > 0:
		return th.Muted.On("keyboard ") + th.Plain.On(ink.Say("%s, after %s", s.Operator, s.Handed.From))
	}
	return ""
}

// KeyboardFree tells a follower that the keyboard is free, and how to take over.
func KeyboardFree(env *screen.Env) ink.Text {
	s := env.Snap.State
	if !s.GivenOver() || s.Outcome != "" {
		return ""
	}
	return ink.Say("%s handed over to %s: %s. The keyboard is free; to continue: handrail resume %s", s.Handed.From, s.Handed.For, s.Handed.Why, s.Incident)
}
