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
	cs := []form.Choice{{Value: triage.Resolved, Help: "say how, and what shows it"}, {Value: triage.Taken, Help: "a named person takes it from here"}}
	return &form.Form{Title: ink.Say("Before the close: what %s found", incident.Short(o.Step)), Intro: intro, Fields: []form.Field{form.OneOf("how", "it is", cs)},
		Submit: func(v map[string]string) tea.Cmd {
			env.Sheet = resolveDetails(env, o, v["how"])
			return nil
		}}
}

func resolveDetails(env *screen.Env, o triage.Option, how string) *form.Form {
	fields := []form.Field{form.Named("why", "how", "how it was resolved, and what shows it", true)}
	if how == triage.Taken {
		fields = []form.Field{form.Named("person", "person", "who takes it", true), form.Named("why", "why", "what they do with it (optional)", false)}
	}
	return &form.Form{Title: ink.Say("%s: what %s found", how, incident.Short(o.Step)), Intro: []ink.Text{"! " + ink.Shown(o.Subject)}, Fields: fields,
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoResolve, Finding: triage.FindingAnswer{Step: o.Step, Finding: o.Subject, How: how, Why: v["why"], Person: v["person"]}})
		}}
}
