package tui

import (
	"strings"

	"handrail/triage"
	"handrail/tui/ink"
)

// drawHeader is the top of every screen: what is shown, and what the program can do
// at this moment.
func drawHeader(env *Env, name ink.Text) []ink.Drawn {
	th := &env.th
	brand := th.Title.On("handrail")
	if env.inc == nil && env.c.Version != "" && env.at == atHome {
		brand += " " + th.Muted.On(ink.Shown(env.c.Version))
	}
	if env.inc == nil {
		left := " " + brand + "  " + th.Muted.On(name)
		right := chip(env) + " "
		if place := env.place(); place != "" {
			right = th.ChipPlace.On(" "+ink.Clip(place, 16)+" ") + " " + right
		}
		// A long name of the cluster gives way to that of the screen, a short one does not.
		if room := min(env.w/2, max(20, env.w-ink.Cells(left)-ink.Cells(right)-4)); env.known.Cluster != "" {
			right = "  " + th.Muted.On(ink.Clip(ink.Shown(env.known.Cluster), room)) + "  " + right
		}
		return []ink.Drawn{ink.Spread(left, right, env.w), rule(env)}
	}
	s := env.snap.State
	if place := env.place(); place != "" {
		brand = th.ChipPlace.On(" " + ink.Clip(place, 16) + " ")
	}
	left := " " + brand + "  " + th.Strong.On(ink.Or(ink.Shown(s.Title), ink.Shown(s.Incident)))
	right := "  " + th.Severity(ink.Shown(string(s.Severity))).On(ink.Shown(string(s.Severity))) + "  " + th.Plain.On(env.elapsed(env.now)) + "  " + chip(env) + " "
	return []ink.Drawn{ink.Spread(left, right, env.w), " " + ink.Cut(about(env), env.w-2), rule(env)}
}

// about is what the incident is about: cluster, workspace, who the API server
// says is asking, host.
func about(env *Env) ink.Drawn {
	th := &env.th
	var parts []string
	if d := env.snap.State.Drill; d != "" {
		parts = append(parts, string(th.Accent.On(ink.Say("DRILL %s", d))))
	}
	as := ""
	for _, who := range env.snap.State.People {
		if who.Proof == "kube" {
			as = who.ID
		}
	}
	if age := copyAge(env); age != "" {
		parts = append(parts, string(age))
	}
	if who := atKeyboard(env); who != "" {
		parts = append(parts, string(who))
	}
	add := func(key, value string) {
		parts = append(parts, string(th.Muted.On(ink.Shown(key))+" "+th.Plain.On(ink.Shown(value))))
	}
	for _, kv := range env.snap.Header {
		if kv.Key == "host" && as != "" {
			add("as", as)
			as = ""
		}
		add(kv.Key, kv.Value)
	}
	if as != "" {
		add("as", as)
	}
	if len(parts) == 0 {
		parts = append(parts, string(th.Muted.On(ink.Shown(env.snap.State.Incident))))
	}
	return ink.Drawn(strings.Join(parts, string(th.Faint.On("  ·  "))))
}

// chip says in a word what the program can do now.
func chip(env *Env) ink.Drawn {
	th := &env.th
	switch {
	case env.replaying():
		at, last := env.tape.Place()
		if env.tape.Live() {
			return th.ChipWarn.On(ink.Say(" LOOKING ON %d/%d ", at, last))
		}
		return th.ChipWarn.On(ink.Say(" REPLAY %d/%d ", at, last))
	case env.inc != nil && env.snap.Dead != "":
		return th.ChipArmed.On(" NOT RECORDING ")
	case env.inc != nil && env.acting():
		return th.ChipArmed.On(" ACTING ")
	case env.inc != nil && env.armed():
		return th.ChipArmed.On(" ARMED ")
	case env.inc != nil && doubtful(env):
		return th.ChipWarn.On(" READ-ONLY, OUTCOME UNKNOWN ")
	}
	return th.ChipSafe.On(" READ-ONLY ")
}

// doubtful says that an act began of which nobody knows the end.
func doubtful(env *Env) bool {
	for _, g := range env.snap.State.Gates {
		if g.Phase == triage.GateUnknown {
			return true
		}
	}
	return false
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

// rule is the line under the header: heavy and in its own colour where a mistake
// costs most.
func rule(env *Env) ink.Drawn {
	if env.place() != "" {
		return env.th.Place.On(ink.Line("━", env.w))
	}
	return env.th.Faint.On(ink.Line("─", env.w))
}
