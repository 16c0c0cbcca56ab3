package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
)

// longWait is what a person does not wait for with their eyes on the screen.
const longWait = 10 * time.Second

// news says what happened between two snapshots that the operator may wait for:
// a long read or act that ended, a watch that is settled, the close. "" is
// nothing.
func news(before, after view.Snapshot) ink.Text {
	for _, r := range before.Running {
		ended := !slices.ContainsFunc(after.Running, func(o view.Running) bool { return o.Step == r.Step })
		if !ended || after.Made.Sub(r.Started) < longWait {
			continue
		}
		if r.Act {
			return ink.Say("%s ended", incident.Short(r.Step))
		}
		return ink.Say("%s was read", incident.Short(r.Step))
	}
	for _, id := range after.State.Undone() {
		if !slices.Contains(before.State.Undone(), id) {
			return ink.Say("the act of %s was undone", incident.Short(id))
		}
	}
	for _, st := range after.State.Steps {
		old, ok := before.State.Step(st.ID)
		if ok && st.Kind == triage.WatchStep && st.Status == triage.Settled && old.Status != triage.Settled {
			return ink.Say("%s is settled", incident.Short(st.ID))
		}
	}
	if before.State.Outcome == "" && after.State.Outcome != "" {
		return "the incident is closed"
	}
	return ""
}

// notify rings when something awaited has happened. Where the terminal said that it lost
// the focus, it is told in words too (OSC 9), which desktops show.
func (m *model) notify(before, after view.Snapshot) tea.Cmd {
	what := news(before, after)
	if what == "" || m.Config.Silent {
		return nil
	}
	ring := "\a"
	if m.away {
		ring += "\x1b]9;handrail: " + strings.Map(plainRune, string(what)) + "\x07"
	}
	return tea.Raw(ring)
}

// plainRune keeps printable ASCII: another program shows
// a notification.
func plainRune(r rune) rune {
	if r < 0x20 || r > 0x7e {
		return -1
	}
	return r
}
