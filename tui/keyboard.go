package tui

import "handrail/tui/ink"

// atKeyboard says who is at the keyboard where that changed, and warns where
// nobody is.
func atKeyboard(env *Env) ink.Drawn {
	th, s := &env.th, env.snap.State
	switch {
	case s.GivenOver():
		return th.Warn.On("! ") + th.Strong.On(ink.Say("handed over to %s", s.Handed.For))
	case s.Handed.Seq > 0:
		return th.Muted.On("keyboard ") + th.Plain.On(ink.Say("%s, after %s", s.Operator, s.Handed.From))
	}
	return ""
}

// nobodyHolds tells who looks on that nobody is at the keyboard, and how to be the
// one.
func nobodyHolds(env *Env) ink.Text {
	s := env.snap.State
	if !s.GivenOver() || s.Outcome != "" {
		return ""
	}
	return ink.Say("%s handed over to %s: %s. Nobody is at the keyboard; whoever goes on: handrail resume %s", s.Handed.From, s.Handed.For, s.Handed.Why, s.Incident)
}
