package tui

import (
	"strings"
	"time"

	"handrail/triage"
)

// header is the top of every screen: what is shown, and what the program can do
// at this moment.
func (m *model) header() []drawn {
	th := &m.th
	name := th.title.on("handrail")
	if m.inc == nil && m.c.Version != "" && m.at == atHome {
		name += " " + th.muted.on(shown(m.c.Version))
	}
	if m.inc == nil {
		left := " " + name + "  " + th.muted.on(m.screenName())
		right := m.chip() + " "
		if place := m.place(); place != "" {
			right = th.chipPlace.on(" "+clip(place, 16)+" ") + " " + right
		}
		// A long name of the cluster gives way to that of the screen, a short one does not.
		if room := min(m.w/2, max(20, m.w-cells(left)-cells(right)-4)); m.home.data.Cluster != "" {
			right = "  " + th.muted.on(clip(shown(m.home.data.Cluster), room)) + "  " + right
		}
		return []drawn{spread(left, right, m.w), m.rule()}
	}
	s := m.run.snap.State
	if place := m.place(); place != "" {
		name = th.chipPlace.on(" " + clip(place, 16) + " ")
	}
	left := " " + name + "  " + th.strong.on(or(shown(s.Title), shown(s.Incident)))
	right := "  " + th.severity(shown(string(s.Severity))).on(shown(string(s.Severity))) + "  " + th.plain.on(m.elapsed()) + "  " + m.chip() + " "
	return []drawn{spread(left, right, m.w), " " + cut(m.about(), m.w-2), m.rule()}
}

func (m *model) screenName() text {
	switch m.at {
	case atMatch:
		return "match an error"
	case atSymptoms:
		return "match what you see"
	case atWait:
		return "opening"
	}
	return "command centre"
}

// elapsed is how long the incident is open, or was.
func (m *model) elapsed() text {
	s := m.run.snap.State
	if s.Opened.IsZero() {
		return ""
	}
	if !s.Closed.IsZero() {
		return ago(s.Closed.Sub(s.Opened))
	}
	return minutes(m.now.Sub(s.Opened))
}

// minutes is a time that goes on, to the minute once there is one: nobody reads
// the seconds, and each would be drawn.
func minutes(d time.Duration) text {
	if d < time.Minute || d >= time.Hour {
		return ago(d)
	}
	return say("%dm", int(d.Minutes()))
}

// about is what the incident is about: cluster, workspace, who the API server
// says is asking, host.
func (m *model) about() drawn {
	th := &m.th
	var parts []string
	if d := m.run.snap.State.Drill; d != "" {
		parts = append(parts, string(th.accent.on(say("DRILL %s", d))))
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
		parts = append(parts, string(th.muted.on(shown(key))+" "+th.plain.on(shown(value))))
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
		parts = append(parts, string(th.muted.on(shown(m.run.snap.State.Incident))))
	}
	return drawn(strings.Join(parts, string(th.faint.on("  ·  "))))
}

// chip says in a word what the program can do now.
func (m *model) chip() drawn {
	th := &m.th
	switch {
	case m.replaying():
		at, last := m.replay.tape.Place()
		if m.replay.tape.Live() {
			return th.chipWarn.on(say(" LOOKING ON %d/%d ", at, last))
		}
		return th.chipWarn.on(say(" REPLAY %d/%d ", at, last))
	case m.inc != nil && m.run.snap.Dead != "":
		return th.chipArmed.on(" NOT RECORDING ")
	case m.inc != nil && m.run.acting():
		return th.chipArmed.on(" ACTING ")
	case m.inc != nil && m.run.armed():
		return th.chipArmed.on(" ARMED ")
	case m.inc != nil && m.doubtful():
		return th.chipWarn.on(" READ-ONLY, OUTCOME UNKNOWN ")
	}
	return th.chipSafe.on(" READ-ONLY ")
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
