package sheets

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// The sheets of the run screen: one constructor for each intent that needs words.

// AnswerForm asks how an answer was confirmed.
func AnswerForm(env *screen.Env, step string, c form.Choice) *form.Form {
	st, _ := env.Snap.State.Step(step)
	card := env.Snap.Cards[step]
	hint := ink.Text("how was it confirmed, in one sentence")
	if card.Evidence != "" {
		hint = ink.Shown(card.Evidence)
	}
	how := form.Named("how", "how", hint, true)
	if st.ID == step && st.Answer == c.Value {
		how.Edit.Set(st.How)
	}
	return &form.Form{Title: ink.Say("Answer: %s", c.Value), Intro: []ink.Text{ink.Shown(card.Ask), c.Help}, Fields: []form.Field{how},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoAnswer, Step: step, Value: c.Value, Text: v["how"]})
		}}
}

// ManualForm asks for the proof of what was done outside.
func ManualForm(env *screen.Env, step string) *form.Form {
	return &form.Form{Title: ink.Say("Done: %s", env.Title(step)), Intro: []ink.Text{"Name the proof, so that somebody else can look at it."},
		Fields: []form.Field{form.Named("proof", "proof", ink.Or(ink.Shown(env.Snap.Cards[step].Evidence), "a link, an id, a line of a log"), true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoManual, Step: step, Text: v["proof"]})
		}}
}

// SkipForm asks why a step is not needed.
func SkipForm(env *screen.Env, step string) *form.Form {
	return &form.Form{Title: ink.Say("Skip: %s", env.Title(step)), Intro: []ink.Text{"The step stays visible as skipped, with the reason."},
		Fields: []form.Field{form.Named("why", "why", "why this step is not needed here", true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoSkip, Step: step, Text: v["why"]})
		}}
}

// overruleForm has a person answer for what a step found: for the very texts that
// stand here.
func overruleForm(env *screen.Env, step string) *form.Form {
	st, _ := env.Snap.State.Step(step)
	said := st.Said()
	intro := []ink.Text{"It keeps gates shut, or keeps the incident from closing as recovered:"}
	for _, s := range said {
		intro = append(intro, "! "+ink.Shown(s))
	}
	return &form.Form{Title: ink.Say("Overrule what %s found", incident.Short(step)),
		Intro:  append(intro, "The person named here answers for it, and the bundle says so. Reading it again is safer."),
		Fields: []form.Field{form.Named("person", "person", "who on the call decides this", true), form.Named("why", "why", "the reason, in one sentence", true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoWaive, Law: triage.LawNone, Step: step, Findings: said, Person: v["person"], Text: v["why"]})
		}}
}

// WaiveForm asks who sets a law or a finding aside, and why.
func WaiveForm(env *screen.Env, o triage.Option) *form.Form {
	if o.Value == "0" {
		return overruleForm(env, o.Subject)
	}
	what := map[string]ink.Text{
		"1":  "Evidence before change: this capture is required before any gate.",
		"8":  "Green is not proof: this watch is required before the incident can close.",
		"12": "Who will undo it: this owner of the target is not paused.",
	}[o.Value]
	return &form.Form{Title: ink.Say("Waive law %s for %s", o.Value, incident.Short(o.Subject)),
		Intro:  []ink.Text{what, "The person named here takes it upon themselves; the bundle says so."},
		Fields: []form.Field{form.Named("person", "person", "who on the call decides this", true), form.Named("why", "why", "the reason, in one sentence", true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoWaive, Law: atoi(o.Value), Step: o.Subject, Person: v["person"], Text: v["why"]})
		}}
}

// atoi reads the number of a law, which triage wrote.
func atoi(s string) int {
	n := 0
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n
}

// ConcludeForm asks for a decision and what it stands on.
func ConcludeForm(env *screen.Env, o triage.Option) *form.Form {
	var cs []form.Choice
	for _, v := range env.Snap.Cards[o.Step].Values {
		cs = append(cs, form.Choice{Value: v.Value, Help: ink.Shown(v.Help)})
	}
	if cs == nil {
		cs = topicValues(o.Topic)
	}
	value := form.OneOf("value", ink.Shown(string(o.Topic)), cs)
	if cs == nil {
		value = form.Named("value", ink.Shown(string(o.Topic)), "in a few words", true)
	}
	return &form.Form{Title: ink.Say("Decide: %s", o.Topic), Intro: []ink.Text{"A decision less cautious than the proposal needs a person's name."},
		Fields: []form.Field{value, form.Named("why", "why", "what this stands on", true), form.Named("person", "person", "who decides (may stay empty)", false)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: v["value"], Text: v["why"], Person: v["person"]})
		}}
}

func topicValues(t triage.Topic) []form.Choice {
	switch t {
	case triage.TopicMutation, triage.TopicConsistent, triage.TopicReverts:
		return []form.Choice{{Value: "yes", Help: ""}, {Value: "no", Help: ""}, {Value: triage.Unknown, Help: "nobody can tell; treated with the same care as yes"}}
	case triage.TopicClass:
		var out []form.Choice
		for _, f := range triage.FailureStates() {
			out = append(out, form.Choice{Value: f.Name, Help: ink.Shown(f.Means)})
		}
		return out
	case triage.TopicDomain:
		var out []form.Choice
		for _, d := range triage.Domains() {
			out = append(out, form.Choice{Value: d.Slug, Help: ink.Shown(d.Fails)})
		}
		return out
	}
	return nil
}

// NoteForm asks for a note.
func NoteForm(env *screen.Env) *form.Form {
	return &form.Form{Title: "Note for the timeline", Fields: []form.Field{form.Named("text", "note", "what was said, seen or decided", true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoNote, Text: v["text"]})
		}}
}

// SeverityForm asks for another severity.
func SeverityForm(env *screen.Env) *form.Form {
	cs := []form.Choice{{Value: "SEV-1", Help: "the gates of repair and re-run then need a commander"}, {Value: "SEV-2", Help: ""}, {Value: "SEV-3", Help: ""}, {Value: "SEV-4", Help: ""}}
	f := &form.Form{Title: ink.Say("Severity, now %s", env.Snap.State.Severity),
		Fields: []form.Field{form.OneOf("level", "severity", cs), form.Named("why", "why", "what changed", true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoSeverity, Severity: triage.Severity(v["level"]), Text: v["why"]})
		}}
	if env.Snap.Lowers != nil {
		return loweringForm(env, f)
	}
	return f
}

// SettleForm asks how first, then for what that way of settling needs.
func SettleForm(env *screen.Env, id string) *form.Form {
	d := env.Debt(id)
	paid := ink.Text("it is in Git: name the commit or the merged change")
	switch d.Kind {
	case "unfinished":
		paid = "it was done after all: say what shows it"
	case "resume":
		paid = "it runs again: say what shows it"
	}
	cs := []form.Choice{{Value: "paid", Help: paid}, {Value: "carried", Help: "somebody owns it until a date"}, {Value: "waived", Help: "somebody decides that it is not owed"}}
	return &form.Form{Title: ink.Say("Settle: %s", d.Kind), Intro: []ink.Text{ink.Shown(d.Text)}, Fields: []form.Field{form.OneOf("how", "how", cs)},
		Submit: func(v map[string]string) tea.Cmd {
			env.Sheet = settleDetails(env, d, v["how"])
			return nil
		}}
}

func settleDetails(env *screen.Env, d triage.Debt, how string) *form.Form {
	proof := ink.Text("commit or merged change")
	if d.Kind != "reconcile" {
		proof = "what shows it"
	}
	fields := map[string][]form.Field{
		"paid":    {form.Named("proof", "proof", proof, true)},
		"carried": {form.Named("owner", "owner", "a team or a person", true), form.Named("until", "until", "a date, as 2026-12-01", true)},
		"waived":  {form.Named("person", "person", "who decides this", true), form.Named("why", "why", "the reason", true)},
	}[how]
	if how == "carried" {
		fields[1].Check = func(s string) ink.Text {
			if _, err := time.Parse(time.DateOnly, s); err != nil {
				return "A date is written as 2026-12-01."
			}
			return ""
		}
	}
	return &form.Form{Title: ink.Say("Debt %s: %s", how, d.Kind), Intro: []ink.Text{ink.Shown(d.Text)}, Fields: fields,
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoSettle, Debt: triage.Settle{Debt: d.ID, How: how,
				Proof: v["proof"], Owner: v["owner"], Until: v["until"], Person: v["person"], Why: v["why"]}})
		}}
}

// CloseForm asks how the incident ends.
func CloseForm(env *screen.Env) *form.Form {
	help := func(v string, fine ink.Text) form.Choice {
		for _, o := range env.Snap.Options {
			if o.Kind == triage.DoClose && o.Value == v && !o.Available() {
				return form.Choice{Value: v, Help: incident.Refusal(o.Refusals[0])}
			}
		}
		return form.Choice{Value: v, Help: fine}
	}
	cs := []form.Choice{help("recovered", "verified, and every debt settled"), help("open", "findings stand, somebody goes on elsewhere"), help("aborted", "the walk ends here")}
	return &form.Form{Title: "Close the incident", Intro: []ink.Text{"To leave without closing, press esc and then q."},
		Fields: []form.Field{form.OneOf("outcome", "outcome", cs), form.Named("why", "why", "one sentence for the report", false)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoClose, Value: v["outcome"], Text: v["why"]})
		}}
}

// InterruptForm asks once more before an act is interrupted.
func InterruptForm(env *screen.Env, step string) *form.Form {
	cs := []form.Choice{{Value: "let it go on", Help: ""}, {Value: "interrupt it", Help: "one interrupt; it may leave things half done"}}
	return &form.Form{Title: ink.Say("%s is acting", incident.Short(step)), Intro: []ink.Text{"An interrupt asks the program to stop in order. It is sent once and not repeated."},
		Fields: []form.Field{form.OneOf("what", "do", cs)},
		Submit: func(v map[string]string) tea.Cmd {
			if v["what"] != cs[1].Value {
				return nil
			}
			return env.Send(triage.Intent{Kind: triage.DoInterrupt, Step: step})
		}}
}

// PlanForm asks which runbook to go on with.
func PlanForm(env *screen.Env) *form.Form {
	var cs []form.Choice
	for _, l := range env.Snap.Next {
		cs = append(cs, form.Choice{Value: l.Runbook, Help: ink.Shown(l.Why)})
	}
	f := form.OneOf("runbook", "runbook", cs)
	if cs == nil {
		f = form.Named("runbook", "runbook", "its id", true)
	}
	return &form.Form{Title: "Go on with another runbook", Intro: []ink.Text{"What is known stays known."}, Fields: []form.Field{f},
		Submit: func(v map[string]string) tea.Cmd {
			in := triage.Intent{Kind: triage.DoPlan, Value: v["runbook"]}
			for _, l := range env.Snap.Next {
				if l.Runbook == in.Value {
					in.Params = l.Params
				}
			}
			return env.Send(in)
		}}
}

// WiderForm asks why a pause must reach further than the narrowest one.
func WiderForm(env *screen.Env, step string) *form.Form {
	return &form.Form{Title: ink.Say("A wider pause: %s", env.Title(step)), Intro: []ink.Text{"A narrower one comes first in this runbook. Say why it is not enough."},
		Fields: []form.Field{form.Named("why", "why", "what the narrower one does not stop", true)},
		Submit: func(v map[string]string) tea.Cmd { return env.Ask(screen.Preview{Step: step, Why: v["why"]}) }}
}
