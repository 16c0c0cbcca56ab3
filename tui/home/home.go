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
	read      bool // data came: before it no row is chosen, or an answer would stand where incidents will
	Rows      []HomeRow
	At        int
	find      form.Editor // narrows the rows while it says anything
	searching bool
	Moved     bool // a person chose the row
	Centre    centre
	drills    bool // the drills fill the screen
}

// HomeRow is one line that can be chosen.
type HomeRow struct {
	Section          section
	ID               string
	mark             func(*ink.Theme) ink.Drawn
	left, main, note ink.Text
	about            ink.Text // in a line of its own, below
	since            time.Time
	move             ink.Text // what enter does
	goal             ink.Text // of a drill: what winning takes
	needs            ink.Text // of a drill: what has to be built first
	variants         []string
	resumes          bool // it is an incident, and not something to begin

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
	reviews
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
		h.read = true
		return nil
	}
	return env.Tasks.Start(func(ctx context.Context) tea.Msg {
		h, err := env.Config.Home(ctx)
		return HomeMsg{h, err}
	})
}

func (h *Screen) take(msg HomeMsg) {
	h.Loading, h.read, h.data, h.err = false, true, msg.Data, ""
	if msg.Err != nil {
		h.err = ink.Shown(msg.Err.Error())
	}
	h.arrange()
	if h.drills && !h.seen(h.At) { // they were asked for before they were read
		h.jump(Practice)
	}
}

// arrange makes the rows of what is known now. The row that enter would open stays
// that row when others come before it, so that no key hits another one than was read.
func (h *Screen) arrange() {
	var chosen HomeRow
	first := len(h.Rows) == 0
	if at, ok := h.chosen(); ok {
		chosen = at
	}
	h.Rows = nil
	if !h.read {
		return
	}
	var drills []HomeRow
	for _, r := range h.data.Incidents {
		switch {
		case r.Outcome != "": // not resumed; what it owes has a row of its own
		case r.Drill != "" || r.Kind != "": // never between real ones
			drills = append(drills, incidentRow(r))
		default:
			h.Rows = append(h.Rows, incidentRow(r))
		}
	}
	none := len(h.Rows) == 0
	h.Rows = append(h.Rows, h.Centre.standings()...)
	for _, r := range h.data.Debts {
		h.Rows = append(h.Rows, debtRow(r))
	}
	h.Rows = append(h.Rows, drills...)
	for _, r := range h.data.Drills {
		h.Rows = append(h.Rows, HomeRow{Section: Practice, ID: r.ID, left: ink.Shown(r.ID), main: ink.Shown(r.Page), goal: ink.Shown(r.Goal), needs: ink.Shown(r.Needs),
			move: ink.Say("Practise %s", r.ID), variants: r.Variants})
	}
	for _, r := range h.data.Runbooks {
		h.Rows = append(h.Rows, HomeRow{Section: library, ID: r.ID, left: ink.Shown(r.ID), main: ink.Shown(r.Title), note: note(r),
			move: ink.Say("Start an incident with %s", r.ID)})
	}
	for i := range h.Rows {
		r := &h.Rows[i]
		r.all = strings.ToLower(strings.Join([]string{r.ID, string(r.left), string(r.main), string(r.note)}, " "))
		r.wide = min(26, ink.Cells(ink.Drawn(r.left)))
	}
	if first && none && !h.Moved { // what comes first by and by must not be under enter
		h.At = -1
		return
	}
	h.At = min(h.At, max(0, len(h.Rows)-1))
	if i := slices.IndexFunc(h.Rows, func(r HomeRow) bool { return r.Section == chosen.Section && r.ID == chosen.ID }); i >= 0 {
		h.At = i
	}
}

// note is what stands at the end of the row of a runbook.
func note(r screen.RunbookRow) ink.Text {
	if r.From == "" {
		return ink.Shown(r.Severity)
	}
	return ink.Shown(strings.TrimSpace(r.Severity + " " + r.From))
}

// chosen is the row that enter opens; there is none until a person moves, where no
// incident is open.
func (h *Screen) chosen() (HomeRow, bool) {
	if h.At < 0 || h.At >= len(h.Rows) {
		return HomeRow{}, false
	}
	return h.Rows[h.At], true
}

func incidentRow(r screen.IncidentRow) HomeRow {
	out := HomeRow{Section: incidents, ID: r.ID, left: ink.Shown(r.Severity), main: ink.Shown(r.Title), move: ink.Say("Resume %s", r.ID), since: r.Opened, resumes: true}
	about := []string{r.Where}
	if r.Drill != "" {
		out.Section, about[0] = Practice, "drill "+r.Drill
	}
	if r.Kind != "" {
		out.Section = reviews
	}
	about = slices.DeleteFunc(append(about, r.Who), func(s string) bool { return s == "" })
	out.note, out.about = ink.Say("in %s", r.Phase), ink.Shown(strings.Join(about, " · "))
	out.mark = func(t *ink.Theme) ink.Drawn { return t.Severity(ink.Shown(r.Severity)).On(ink.Shown(r.Severity)) }
	return out
}

func debtRow(r screen.DebtRow) HomeRow {
	out := HomeRow{Section: debts, ID: r.Incident, left: "owed", main: ink.Shown(r.Text), note: ink.Say("%s, until %s", r.Owner, r.Until), move: ink.Say("Open %s, which has this debt", r.Incident)}
	out.mark = func(t *ink.Theme) ink.Drawn { return t.Muted.On("○ owed") }
	if r.Overdue {
		out.mark = func(t *ink.Theme) ink.Drawn { return t.Warn.On("! late") }
		out.note = ink.Say("overdue since %s, %s", r.Until, r.Owner)
	}
	return out
}
