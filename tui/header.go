package tui

import (
	"strings"

	"handrail/triage"
	"handrail/tui/ink"
)

// header is the top of every screen: what is shown, and what the program can do
// at this moment.
func (m *model) header() []ink.Drawn {
	th := &m.th
	name := th.Title.On("handrail")
	if m.inc == nil && m.c.Version != "" && m.at == atHome {
		name += " " + th.Muted.On(ink.Shown(m.c.Version))
	}
	if m.inc == nil {
		left := " " + name + "  " + th.Muted.On(m.front().name)
		right := m.chip() + " "
		if place := m.place(); place != "" {
			right = th.ChipPlace.On(" "+ink.Clip(place, 16)+" ") + " " + right
		}
		// A long name of the cluster gives way to that of the screen, a short one does not.
		if room := min(m.w/2, max(20, m.w-ink.Cells(left)-ink.Cells(right)-4)); m.known.Cluster != "" {
			right = "  " + th.Muted.On(ink.Clip(ink.Shown(m.known.Cluster), room)) + "  " + right
		}
		return []ink.Drawn{ink.Spread(left, right, m.w), m.rule()}
	}
	s := m.run.snap.State
	if place := m.place(); place != "" {
		name = th.ChipPlace.On(" " + ink.Clip(place, 16) + " ")
	}
	left := " " + name + "  " + th.Strong.On(ink.Or(ink.Shown(s.Title), ink.Shown(s.Incident)))
	right := "  " + th.Severity(ink.Shown(string(s.Severity))).On(ink.Shown(string(s.Severity))) + "  " + th.Plain.On(elapsedOf(m.Env)) + "  " + m.chip() + " "
	return []ink.Drawn{ink.Spread(left, right, m.w), " " + ink.Cut(m.about(), m.w-2), m.rule()}
}

// elapsedOf is how long the incident is open, or was.
func elapsedOf(env *Env) ink.Text {
	s := env.snap.State
	if s.Opened.IsZero() {
		return ""
	}
	if !s.Closed.IsZero() {
		return ink.Ago(s.Closed.Sub(s.Opened))
	}
	return ink.Minutes(env.now.Sub(s.Opened))
}

// about is what the incident is about: cluster, workspace, who the API server
// says is asking, host.
func (m *model) about() ink.Drawn {
	th := &m.th
	var parts []string
	if d := m.run.snap.State.Drill; d != "" {
		parts = append(parts, string(th.Accent.On(ink.Say("DRILL %s", d))))
	}
	as := ""
	for _, who := range m.run.snap.State.People {
		if who.Proof == "kube" {
			as = who.ID
		}
	}
	if age := m.copyAge(); age != "" {
		parts = append(parts, string(age))
	}
	if who := m.atKeyboard(); who != "" {
		parts = append(parts, string(who))
	}
	add := func(key, value string) {
		parts = append(parts, string(th.Muted.On(ink.Shown(key))+" "+th.Plain.On(ink.Shown(value))))
	}
	for _, kv := range m.run.snap.Header {
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
		parts = append(parts, string(th.Muted.On(ink.Shown(m.run.snap.State.Incident))))
	}
	return ink.Drawn(strings.Join(parts, string(th.Faint.On("  ·  "))))
}

// chip says in a word what the program can do now.
func (m *model) chip() ink.Drawn {
	th := &m.th
	switch {
	case m.replaying():
		at, last := m.tape.Place()
		if m.tape.Live() {
			return th.ChipWarn.On(ink.Say(" LOOKING ON %d/%d ", at, last))
		}
		return th.ChipWarn.On(ink.Say(" REPLAY %d/%d ", at, last))
	case m.inc != nil && m.run.snap.Dead != "":
		return th.ChipArmed.On(" NOT RECORDING ")
	case m.inc != nil && m.run.acting():
		return th.ChipArmed.On(" ACTING ")
	case m.inc != nil && m.run.armed():
		return th.ChipArmed.On(" ARMED ")
	case m.inc != nil && m.doubtful():
		return th.ChipWarn.On(" READ-ONLY, OUTCOME UNKNOWN ")
	}
	return th.ChipSafe.On(" READ-ONLY ")
}

// doubtful says that an act began of which nobody knows the end.
func (m *model) doubtful() bool {
	for _, g := range m.run.snap.State.Gates {
		if g.Phase == triage.GateUnknown {
			return true
		}
	}
	return false
}
