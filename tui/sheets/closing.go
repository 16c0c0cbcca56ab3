package sheets

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// noun is what is closed.
func noun(env *screen.Env) string {
	if env.Snap.State.Kind == triage.Readiness {
		return "review"
	}
	return "incident"
}

// CloseForm asks how the incident ends.
func CloseForm(env *screen.Env) *form.Form {
	help := func(v string, fine ink.Text) form.Choice {
		for _, o := range env.Snap.Options {
			if o.Kind == triage.DoClose && o.Value == v && !o.Available() {
				return form.Choice{Value: v, Help: env.Refusal("", o.Refusals[0])}
			}
		}
		return form.Choice{Value: v, Help: fine}
	}
	first := help("recovered", "verified, and each debt paid, waived, or carried by an owner")
	if env.Snap.State.Kind == triage.Readiness {
		first = help(triage.Reviewed, "every question answered, every gap with an owner and a date")
	}
	cs := []form.Choice{first, help("open", "findings remain, work continues elsewhere"), help("aborted", "the walk ends here")}
	return &form.Form{Title: ink.Say("Close the %s", noun(env)), Intro: []ink.Text{"To leave without closing, press esc and then q."},
		Fields: []form.Field{form.OneOf("outcome", "outcome", cs), form.Named("why", "why", "one sentence for the report", false)},
		Submit: func(v map[string]string) tea.Cmd {
			if o, ok := untold(env); ok && v["outcome"] == "recovered" {
				env.Sheet = ResolveForm(env, o)
				return nil
			}
			env.Sheet = closeForm(env, triage.Intent{Kind: triage.DoClose, Value: v["outcome"], Text: v["why"]})
			return nil
		}}
}

// missing is what keeps the incident from being closed as recovered, and what is left
// where it is closed otherwise.
func missing(env *screen.Env) []ink.Text {
	var out []ink.Text
	for _, o := range env.Snap.Options {
		if o.Kind != triage.DoClose || o.Value != env.Snap.State.Ends() || len(o.Refusals) == 0 {
			continue
		}
		out = append(out, ink.Say("Not %s, %d missing:", ink.Shown(o.Value), len(o.Refusals)))
		for _, r := range o.Refusals[:min(len(o.Refusals), mostMissing)] {
			out = append(out, "· "+env.InWords("", r.Why))
		}
		if n := len(o.Refusals) - mostMissing; n > 0 {
			out = append(out, ink.Say("· and %d more", n))
		}
	}
	return out
}

// closeForm asks once more before the incident is closed, which is for good: its
// outcome is typed, so that no keys meant for something else can close it.
func closeForm(env *screen.Env, in triage.Intent) *form.Form {
	means := map[string]ink.Text{
		"recovered": "Each post-condition of this runbook is shown, or waived by name.",
		"reviewed":  "Every question has an answer, and every gap an owner and a date.",
		"open":      "Not recovered. The work continues elsewhere.",
		"aborted":   "Not recovered. The walk ends here.",
	}[in.Value]
	again := form.Named("again", "outcome", ink.Say("type %s to close it", in.Value), true)
	again.Check = func(s string) ink.Text {
		if s != in.Value {
			return ink.Say("Type %s to close it, or press esc: it stays open.", in.Value)
		}
		return ""
	}
	return &form.Form{Title: ink.Say("Close as %s", in.Value), Does: "close it for good", Whole: true,
		Intro:  append(append(missing(env), ink.Shown(env.Snap.State.Incident+": "+env.Snap.State.Title), means), append(leftToOwners(env, in.Value), ink.Say("A closed incident takes no more answers and no more acts; %s continues it in a new one.", env.Keys.Reopen.Help().Key))...),
		Fields: []form.Field{again}, Submit: func(map[string]string) tea.Cmd { return env.Send(in) }}
}

// leftToOwners is what a recovered incident leaves to an owner, who must not take it for done.
func leftToOwners(env *screen.Env, outcome string) []ink.Text {
	var out []ink.Text
	if outcome != "recovered" {
		return nil
	}
	for _, c := range triage.Conditions(env.Snap.State) {
		if c.Shown == triage.PCOpen { // PC7 alone, since the others keep the incident open
			out = append(out, ink.Say("Not shown: %s %s%s", c.Code, c.Means, c.Because()))
		}
	}
	for _, a := range env.Snap.State.Answered {
		if a.How == triage.Taken {
			out = append(out, ink.Say("Not resolved: %s takes what %s found: %s", a.Person, incident.Short(a.Step), strings.TrimSpace(a.Finding)))
		}
	}
	for _, d := range env.Snap.State.Debts {
		if d.Settled.Owner != "" {
			out = append(out, ink.Say("Not done: %s carries until %s: %s", d.Settled.Owner, d.Settled.Until, d.Text))
		}
	}
	if n := len(out) - mostMissing; n > 0 {
		out = append(out[:mostMissing], ink.Say("· and %d more", n))
	}
	return out
}
