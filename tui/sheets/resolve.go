package sheets

import (
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// untold is the first critical finding without an answer that the close as recovered
// asks for, where nothing else is in its way.
func untold(env *screen.Env) (triage.Option, bool) {
	all, first := 0, triage.Option{}
	for _, o := range env.Snap.Options {
		if o.Kind == triage.DoResolve {
			if all++; all == 1 {
				first = o
			}
		}
	}
	for _, o := range env.Snap.Options {
		if o.Kind == triage.DoClose && o.Value == "recovered" && len(o.Refusals) != all {
			return first, false
		}
	}
	return first, all > 0
}

// ResolveForm asks for the answer to one critical finding, and lists those that wait
// for theirs.
func ResolveForm(env *screen.Env, o triage.Option) *form.Form {
	intro := []ink.Text{"! " + ink.Shown(o.Subject)}
	more := 0
	for _, x := range env.Snap.Options {
		if x.Kind == triage.DoResolve && (x.Step != o.Step || x.Subject != o.Subject) {
			if more++; more <= mostMissing {
				intro = append(intro, ink.Say("then: %s found: %s", incident.Short(x.Step), x.Subject))
			}
		}
	}
	if more > mostMissing {
		intro = append(intro, ink.Say("and %d more", more-mostMissing))
	}
	return &form.Form{Title: ink.Say("Before the close: what %s found", incident.Short(o.Step)), Intro: intro, All: true,
		Fields: []form.Field{form.Named("why", "resolved", "how, and what shows it", false), form.Named("person", "or taken", "by whom, who has it from here", false)},
		Lacks: func(v map[string]string) (string, ink.Text) {
			if v["why"] == "" && v["person"] == "" {
				return "why", "Say how it was resolved, or who takes it."
			}
			return "", ""
		},
		Submit: func(v map[string]string) tea.Cmd {
			how := triage.Resolved
			if v["person"] != "" {
				how = triage.Taken
			}
			return env.Send(triage.Intent{Kind: triage.DoResolve, Finding: triage.FindingAnswer{Step: o.Step, Finding: o.Subject, How: how, Why: v["why"], Person: v["person"]}})
		}}
}
