package run

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// A closed incident takes nothing more, so that work on it goes on in a new one that
// names it.

// reopen asks why a closed incident goes on, and opens the one that continues it.
func (r *Screen) reopen(env *screen.Env) {
	s := r.Snap.State
	plan := s.Plan()
	switch {
	case !r.Closed():
		env.Warn("", "This incident is open. A closed one continues in a new one.")
		return
	case s.Drill != "":
		env.Warn("", "A drill is not continued. Start it again from the home screen.")
		return
	case env.Config.Start == nil || plan.Runbook == "":
		env.Warn("", "It cannot be continued from here.")
		return
	}
	given := map[string]string{}
	for name, v := range plan.Params {
		if v.Known() {
			given[name] = v.Text()
		}
	}
	env.Sheet = &form.Form{Title: "Continue in a new incident", Does: "open it",
		Intro: []ink.Text{ink.Say("%s stays as it is: closed, with its evidence. The new one has the same runbook, parameters and severity, and quotes what was answered, concluded and is owed.", s.Incident),
			"What was read is read again, and each answer is given again: the world has moved since."},
		Fields: []form.Field{form.Named("why", "why", "what happened since it was closed", true)},
		Submit: func(v map[string]string) tea.Cmd {
			next := &screen.Continued{From: env.Incident, ID: s.Incident, Severity: s.Severity, Notes: r.quotes(v["why"]), Gone: env.Seal.Gone}
			return env.Ask(screen.Start{Runbook: plan.Runbook, Given: given, Seen: true, Continues: next})
		}}
}

// quotes are the notes with which an incident that continues this one begins.
func (r *Screen) quotes(why string) []string {
	s := r.Snap.State
	var said, concluded, owed []string
	for _, st := range s.Steps {
		if st.Kind == triage.AskStep && st.Answer != "" {
			said = append(said, string(r.Title(st.ID))+" "+st.Answer+" ("+st.How+")")
		}
		if c, ok := s.Topics[triage.Topic(st.Uses)]; ok && st.Kind == triage.ConcludeStep && !st.Retired {
			concluded = append(concluded, st.Uses+" = "+c.Value)
		}
	}
	for _, d := range s.Debts {
		if how := d.Settled.How; how == "" || how == "carried" {
			owed = append(owed, d.Text)
		}
	}
	out := []string{"Continues " + s.Incident + ", closed as " + s.Outcome + ": " + why}
	for _, part := range []struct {
		word string
		all  []string
	}{{"answered", said}, {"concluded", concluded}, {"owes", owed}} {
		if len(part.all) > 0 {
			out = append(out, s.Incident+" "+part.word+": "+strings.Join(part.all, "; "))
		}
	}
	return out
}
