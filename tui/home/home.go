package home

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Screen is the command centre: what is open, what is owed, what can be
// practised and what is in the library.
type Screen struct {
	Loading   bool
	err       ink.Text
	data      screen.Home
	Rows      []HomeRow
	At        int
	find      form.Editor // narrows the rows while it says anything
	searching bool
	Moved     bool // a person chose the row
	Centre    centre
}

// HomeRow is one line that can be chosen.
type HomeRow struct {
	Section          section
	ID               string
	mark             func(*ink.Theme) ink.Drawn
	left, main, note ink.Text
	since            time.Time
	move             ink.Text // what enter does
	variants         []string

	standing *steps.Standing // of an answer; nil for what stands for more of them
	question string
	folded   bool // shown only where rows are looked for
	Fold     bool // stands for those
	long     bool // may take several lines

	all  string // what it is found by, in small letters
	wide int    // of what stands first
}

type section int

const (
	incidents section = iota
	rightNow
	debts
	Practice
	library
)

// HomeMsg is what the machine has to show.
type HomeMsg struct {
	Data screen.Home
	Err  error
}

// Load reads beside the loop what the machine has to show.
func (h *Screen) Load(env *screen.Env) tea.Cmd {
	if env.Config.Home == nil {
		return nil
	}
	return env.Crew.Start(func(ctx context.Context) tea.Msg {
		h, err := env.Config.Home(ctx)
		return HomeMsg{h, err}
	})
}

func (h *Screen) take(msg HomeMsg) {
	h.Loading, h.data, h.err = false, msg.Data, ""
	if msg.Err != nil {
		h.err = ink.Shown(msg.Err.Error())
	}
	h.arrange()
}

// arrange makes the rows of what is known now. The row that a person chose stays
// chosen when others come before it.
func (h *Screen) arrange() {
	var chosen HomeRow
	if h.At < len(h.Rows) && h.Moved {
		chosen = h.Rows[h.At]
	}
	h.Rows = nil
	for _, r := range h.data.Incidents {
		if r.Outcome == "" { // a closed one is not resumed; what it owes has a row of its own
			h.Rows = append(h.Rows, incidentRow(r))
		}
	}
	h.Rows = append(h.Rows, h.Centre.standings()...)
	for _, r := range h.data.Debts {
		h.Rows = append(h.Rows, debtRow(r))
	}
	for _, r := range h.data.Drills {
		h.Rows = append(h.Rows, HomeRow{Section: Practice, ID: r.ID, left: ink.Shown(r.ID), main: ink.Shown(r.Page),
			move: ink.Say("Practise %s", r.ID), variants: r.Variants})
	}
	for _, r := range h.data.Runbooks {
		h.Rows = append(h.Rows, HomeRow{Section: library, ID: r.ID, left: ink.Shown(r.ID), main: ink.Shown(r.Title), note: ink.Shown(r.Severity),
			move: ink.Say("Start an incident with %s", r.ID)})
	}
	for i := range h.Rows {
		r := &h.Rows[i]
		r.all = strings.ToLower(strings.Join([]string{r.ID, string(r.left), string(r.main), string(r.note)}, " "))
		r.wide = min(26, ink.Cells(ink.Drawn(r.left)))
	}
	h.At = min(h.At, max(0, len(h.Rows)-1))
	if !h.Moved {
		h.At = 0
	} else if i := slices.IndexFunc(h.Rows, func(r HomeRow) bool { return r.Section == chosen.Section && r.ID == chosen.ID }); i >= 0 {
		h.At = i
	}
}

func incidentRow(r screen.IncidentRow) HomeRow {
	out := HomeRow{Section: incidents, ID: r.ID, left: ink.Shown(r.Severity), main: ink.Shown(r.Title), move: ink.Say("Resume %s", r.ID), since: r.Opened}
	out.note = ink.Shown(r.Phase)
	if r.Drill != "" {
		out.note += " · drill"
	}
	out.mark = func(t *ink.Theme) ink.Drawn { return t.Severity(ink.Shown(r.Severity)).On(ink.Shown(r.Severity)) }
	return out
}

func debtRow(r screen.DebtRow) HomeRow {
	out := HomeRow{Section: debts, ID: r.Incident, left: "owed", main: ink.Shown(r.Text), note: ink.Say("%s, until %s", r.Owner, r.Until), move: ink.Say("Open %s, which owes this", r.Incident)}
	out.mark = func(t *ink.Theme) ink.Drawn { return t.Muted.On("○ owed") }
	if r.Overdue {
		out.mark = func(t *ink.Theme) ink.Drawn { return t.Warn.On("! late") }
		out.note = ink.Say("overdue since %s, %s", r.Until, r.Owner)
	}
	return out
}
