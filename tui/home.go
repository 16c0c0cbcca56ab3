package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/ink"
)

// homeScreen is the command centre: what is open, what is owed, what can be
// practised and what is in the library.
type homeScreen struct {
	loading   bool
	err       ink.Text
	data      Home
	rows      []homeRow
	at        int
	find      editor // narrows the rows while it says anything
	searching bool
	moved     bool // a person chose the row
	centre    centre
}

// homeRow is one line that can be chosen.
type homeRow struct {
	section          section
	id               string
	mark             func(*ink.Theme) ink.Drawn
	left, main, note ink.Text
	since            time.Time
	move             ink.Text // what enter does
	variants         []string

	standing *steps.Standing // of an answer; nil for what stands for more of them
	question string
	folded   bool // shown only where rows are looked for
	fold     bool // stands for those
	long     bool // may take several lines

	all  string // what it is found by, in small letters
	wide int    // of what stands first
}

type section int

const (
	incidents section = iota
	rightNow
	debts
	practice
	library
)

type homeMsg struct {
	data Home
	err  error
}

func (h *homeScreen) load(env *Env) tea.Cmd {
	if env.c.Home == nil {
		return nil
	}
	return env.crew.start(func(ctx context.Context) tea.Msg {
		h, err := env.c.Home(ctx)
		return homeMsg{h, err}
	})
}

func (h *homeScreen) take(msg homeMsg) {
	h.loading, h.data, h.err = false, msg.data, ""
	if msg.err != nil {
		h.err = ink.Shown(msg.err.Error())
	}
	h.arrange()
}

// arrange makes the rows of what is known now. The row that a person chose stays
// chosen when others come before it.
func (h *homeScreen) arrange() {
	var chosen homeRow
	if h.at < len(h.rows) && h.moved {
		chosen = h.rows[h.at]
	}
	h.rows = nil
	for _, r := range h.data.Incidents {
		if r.Outcome == "" { // a closed one is not resumed; what it owes has a row of its own
			h.rows = append(h.rows, incidentRow(r))
		}
	}
	h.rows = append(h.rows, h.centre.standings()...)
	for _, r := range h.data.Debts {
		h.rows = append(h.rows, debtRow(r))
	}
	for _, r := range h.data.Drills {
		h.rows = append(h.rows, homeRow{section: practice, id: r.ID, left: ink.Shown(r.ID), main: ink.Shown(r.Page),
			move: ink.Say("Practise %s", r.ID), variants: r.Variants})
	}
	for _, r := range h.data.Runbooks {
		h.rows = append(h.rows, homeRow{section: library, id: r.ID, left: ink.Shown(r.ID), main: ink.Shown(r.Title), note: ink.Shown(r.Severity),
			move: ink.Say("Start an incident with %s", r.ID)})
	}
	for i := range h.rows {
		r := &h.rows[i]
		r.all = strings.ToLower(strings.Join([]string{r.id, string(r.left), string(r.main), string(r.note)}, " "))
		r.wide = min(26, ink.Cells(ink.Drawn(r.left)))
	}
	h.at = min(h.at, max(0, len(h.rows)-1))
	if !h.moved {
		h.at = 0
	} else if i := slices.IndexFunc(h.rows, func(r homeRow) bool { return r.section == chosen.section && r.id == chosen.id }); i >= 0 {
		h.at = i
	}
}

func incidentRow(r IncidentRow) homeRow {
	out := homeRow{section: incidents, id: r.ID, left: ink.Shown(r.Severity), main: ink.Shown(r.Title), move: ink.Say("Resume %s", r.ID), since: r.Opened}
	out.note = ink.Shown(r.Phase)
	if r.Drill != "" {
		out.note += " · drill"
	}
	out.mark = func(t *ink.Theme) ink.Drawn { return t.Severity(ink.Shown(r.Severity)).On(ink.Shown(r.Severity)) }
	return out
}

func debtRow(r DebtRow) homeRow {
	out := homeRow{section: debts, id: r.Incident, left: "owed", main: ink.Shown(r.Text), note: ink.Say("%s, until %s", r.Owner, r.Until), move: ink.Say("Open %s, which owes this", r.Incident)}
	out.mark = func(t *ink.Theme) ink.Drawn { return t.Muted.On("○ owed") }
	if r.Overdue {
		out.mark = func(t *ink.Theme) ink.Drawn { return t.Warn.On("! late") }
		out.note = ink.Say("overdue since %s, %s", r.Until, r.Owner)
	}
	return out
}
