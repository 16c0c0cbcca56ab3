package header

import (
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Draw is the top of every screen: what is shown, and what the program can do
// at this moment.
func Draw(env *screen.Env, name ink.Text) []ink.Drawn {
	th := &env.Theme
	brand := th.Title.On("handrail")
	if env.Incident == nil && env.Config.Version != "" && env.At == screen.AtHome {
		brand += " " + th.Muted.On(ink.Shown(env.Config.Version))
	}
	if env.Incident == nil {
		left := " " + brand + "  " + th.Muted.On(name)
		right := Chip(env) + " "
		if place := env.Place(); place != "" {
			right = th.ChipPlace.On(" "+ink.Clip(place, 16)+" ") + " " + right
		}
		// A long name of the cluster gives way to that of the screen, a short one does not.
		if room := min(env.W/2, max(20, env.W-ink.Cells(left)-ink.Cells(right)-4)); env.Known.Cluster != "" {
			right = "  " + th.Muted.On(ink.Clip(ink.Shown(env.Known.Cluster), room)) + "  " + right
		}
		return []ink.Drawn{ink.Spread(left, right, env.W), rule(env)}
	}
	s := env.Snap.State
	if place := env.Place(); place != "" {
		brand = th.ChipPlace.On(" " + ink.Clip(place, 16) + " ")
	}
	left := " " + brand + "  " + th.Strong.On(ink.Or(ink.Shown(s.Title), ink.Shown(s.Incident)))
	right := "  " + th.Severity(ink.Shown(string(s.Severity))).On(ink.Shown(string(s.Severity))) + lowerWaits(env) + "  " + th.Plain.On(env.Elapsed(env.Now)) + "  " + Chip(env) + " "
	return []ink.Drawn{ink.Spread(left, right, env.W), " " + ink.Cut(about(env, env.W-2), env.W-2), rule(env)}
}

// lowerWaits stands beside the severity while a lower one waits.
func lowerWaits(env *screen.Env) ink.Drawn {
	if env.Snap.Lowers == nil {
		return ""
	}
	return env.Theme.Muted.On(ink.Say(" › %s?", triage.SeverityAsk{GateShown: env.Snap.State.Lowering.Shown}.Lowers()))
}

// Chip says in a word what the program can do now.
func Chip(env *screen.Env) ink.Drawn {
	th := &env.Theme
	switch {
	case env.Replaying():
		at, last := env.Tape.Place()
		if env.Tape.Live() {
			return th.ChipWarn.On(ink.Say(" FOLLOWING %d/%d ", at, last))
		}
		return th.ChipWarn.On(ink.Say(" REPLAY %d/%d ", at, last))
	case env.Incident != nil && env.Snap.Dead != "":
		return th.ChipArmed.On(" NOT RECORDING ")
	case env.Incident != nil && env.Acting():
		return th.ChipArmed.On(" ACTING ")
	case env.Incident != nil && env.Blocked():
		return th.ChipWarn.On(" BLOCKED ")
	case env.Incident != nil && env.Armed():
		return th.ChipArmed.On(" ARMED ")
	case env.Incident != nil && doubtful(env):
		return th.ChipWarn.On(" READ-ONLY, OUTCOME UNKNOWN ")
	case closedBy(env) != "":
		room := min(24, max(10, env.W/6)) // the place and the title stand on the same line
		return th.ChipSafe.On(ink.Say(" READ-ONLY by %s ", ink.Clip(ink.Shown(closedBy(env)), room)))
	}
	return th.ChipSafe.On(" READ-ONLY ")
}

// closedBy is what keeps every gate shut, whatever the laws say; "" where nothing does.
func closedBy(env *screen.Env) string {
	if env.Incident == nil {
		return env.Config.ReadOnly
	}
	return env.Snap.ReadOnly
}

// doubtful says that an act began whose end is unknown.
func doubtful(env *screen.Env) bool {
	for _, g := range env.Snap.State.Gates {
		if g.Phase == triage.GateUnknown {
			return true
		}
	}
	return false
}

// OnlyLooking says why a key does nothing.
func OnlyLooking(env *screen.Env) ink.Text {
	if env.Tape.Live() {
		if free := KeyboardFree(env); free != "" {
			return free
		}
		if _, ok := pushed(env); ok {
			return "This is a pushed copy: the incident is handled elsewhere. You follow it, and cannot act."
		}
		return "Another handrail has this incident. You follow it, and cannot act."
	}
	return "This is a REPLAY: it shows what happened, and you cannot act in it."
}

// rule is the line under the header: heavy and in its own colour where a mistake
// costs most.
func rule(env *screen.Env) ink.Drawn {
	if env.Place() != "" {
		return env.Theme.Place.On(ink.Line("━", env.W))
	}
	return env.Theme.Faint.On(ink.Line("─", env.W))
}
