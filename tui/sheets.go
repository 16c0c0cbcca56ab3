package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
)

// The sheets of the run screen: one constructor for each intent that needs words.

func answerForm(env *Env, step string, c choice) *form {
	st, _ := env.snap.State.Step(step)
	card := env.snap.Cards[step]
	hint := ink.Text("how was it confirmed, in one sentence")
	if card.Evidence != "" {
		hint = ink.Shown(card.Evidence)
	}
	how := named("how", "how", hint, true)
	if st.ID == step && st.Answer == c.value {
		how.edit.set(st.How)
	}
	return &form{title: ink.Say("Answer: %s", c.value), intro: []ink.Text{ink.Shown(card.Ask), c.help}, fields: []field{how},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoAnswer, Step: step, Value: c.value, Text: v["how"]})
		}}
}

func manualForm(env *Env, step string) *form {
	return &form{title: ink.Say("Done: %s", env.title(step)), intro: []ink.Text{"Name the proof, so that somebody else can look at it."},
		fields: []field{named("proof", "proof", ink.Or(ink.Shown(env.snap.Cards[step].Evidence), "a link, an id, a line of a log"), true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoManual, Step: step, Text: v["proof"]})
		}}
}

func skipForm(env *Env, step string) *form {
	return &form{title: ink.Say("Skip: %s", env.title(step)), intro: []ink.Text{"The step stays visible as skipped, with the reason."},
		fields: []field{named("why", "why", "why this step is not needed here", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoSkip, Step: step, Text: v["why"]})
		}}
}

// overruleForm has a person answer for what a step found: for the very texts that
// stand here.
func overruleForm(env *Env, step string) *form {
	st, _ := env.snap.State.Step(step)
	said := st.Said()
	intro := []ink.Text{"It keeps gates shut, or keeps the incident from closing as recovered:"}
	for _, s := range said {
		intro = append(intro, "! "+ink.Shown(s))
	}
	return &form{title: ink.Say("Overrule what %s found", short(step)),
		intro:  append(intro, "The person named here answers for it, and the bundle says so. Reading it again is safer."),
		fields: []field{named("person", "person", "who on the call decides this", true), named("why", "why", "the reason, in one sentence", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoWaive, Law: triage.LawNone, Step: step, Findings: said, Person: v["person"], Text: v["why"]})
		}}
}

func waiveForm(env *Env, o triage.Option) *form {
	if o.Value == "0" {
		return overruleForm(env, o.Subject)
	}
	what := map[string]ink.Text{
		"1":  "Evidence before change: this capture is required before any gate.",
		"8":  "Green is not proof: this watch is required before the incident can close.",
		"12": "Who will undo it: this owner of the target is not paused.",
	}[o.Value]
	return &form{title: ink.Say("Waive law %s for %s", o.Value, short(o.Subject)),
		intro:  []ink.Text{what, "The person named here takes it upon themselves; the bundle says so."},
		fields: []field{named("person", "person", "who on the call decides this", true), named("why", "why", "the reason, in one sentence", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoWaive, Law: atoi(o.Value), Step: o.Subject, Person: v["person"], Text: v["why"]})
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

func concludeForm(env *Env, o triage.Option) *form {
	var cs []choice
	for _, v := range env.snap.Cards[o.Step].Values {
		cs = append(cs, choice{value: v.Value, help: ink.Shown(v.Help)})
	}
	if cs == nil {
		cs = topicValues(o.Topic)
	}
	value := oneOf("value", ink.Shown(string(o.Topic)), cs)
	if cs == nil {
		value = named("value", ink.Shown(string(o.Topic)), "in a few words", true)
	}
	return &form{title: ink.Say("Decide: %s", o.Topic), intro: []ink.Text{"A decision less cautious than the proposal needs a person's name."},
		fields: []field{value, named("why", "why", "what this stands on", true), named("person", "person", "who decides (may stay empty)", false)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: v["value"], Text: v["why"], Person: v["person"]})
		}}
}

func topicValues(t triage.Topic) []choice {
	switch t {
	case triage.TopicMutation, triage.TopicConsistent, triage.TopicReverts:
		return []choice{{value: "yes", help: ""}, {value: "no", help: ""}, {value: triage.Unknown, help: "nobody can tell; treated with the same care as yes"}}
	case triage.TopicClass:
		var out []choice
		for _, f := range triage.FailureStates() {
			out = append(out, choice{value: f.Name, help: ink.Shown(f.Means)})
		}
		return out
	case triage.TopicDomain:
		var out []choice
		for _, d := range triage.Domains() {
			out = append(out, choice{value: d.Slug, help: ink.Shown(d.Fails)})
		}
		return out
	}
	return nil
}

func noteForm(env *Env) *form {
	return &form{title: "Note for the timeline", fields: []field{named("text", "note", "what was said, seen or decided", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoNote, Text: v["text"]})
		}}
}

func severityForm(env *Env) *form {
	cs := []choice{{value: "SEV-1", help: "the gates of repair and re-run then need a commander"}, {value: "SEV-2", help: ""}, {value: "SEV-3", help: ""}, {value: "SEV-4", help: ""}}
	return &form{title: ink.Say("Severity, now %s", env.snap.State.Severity),
		fields: []field{oneOf("level", "severity", cs), named("why", "why", "what changed", true)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoSeverity, Severity: triage.Severity(v["level"]), Text: v["why"]})
		}}
}

// settleForm asks how first, then for what that way of settling needs.
func settleForm(env *Env, id string) *form {
	d := env.debt(id)
	paid := ink.Text("it is in Git: name the commit or the merged change")
	switch d.Kind {
	case "unfinished":
		paid = "it was done after all: say what shows it"
	case "resume":
		paid = "it runs again: say what shows it"
	}
	cs := []choice{{value: "paid", help: paid}, {value: "carried", help: "somebody owns it until a date"}, {value: "waived", help: "somebody decides that it is not owed"}}
	return &form{title: ink.Say("Settle: %s", d.Kind), intro: []ink.Text{ink.Shown(d.Text)}, fields: []field{oneOf("how", "how", cs)},
		submit: func(v map[string]string) tea.Cmd {
			env.form = settleDetails(env, d, v["how"])
			return nil
		}}
}

func settleDetails(env *Env, d triage.Debt, how string) *form {
	proof := ink.Text("commit or merged change")
	if d.Kind != "reconcile" {
		proof = "what shows it"
	}
	fields := map[string][]field{
		"paid":    {named("proof", "proof", proof, true)},
		"carried": {named("owner", "owner", "a team or a person", true), named("until", "until", "a date, as 2026-12-01", true)},
		"waived":  {named("person", "person", "who decides this", true), named("why", "why", "the reason", true)},
	}[how]
	if how == "carried" {
		fields[1].check = func(s string) ink.Text {
			if _, err := time.Parse(time.DateOnly, s); err != nil {
				return "A date is written as 2026-12-01."
			}
			return ""
		}
	}
	return &form{title: ink.Say("Debt %s: %s", how, d.Kind), intro: []ink.Text{ink.Shown(d.Text)}, fields: fields,
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoSettle, Debt: triage.Settle{Debt: d.ID, How: how,
				Proof: v["proof"], Owner: v["owner"], Until: v["until"], Person: v["person"], Why: v["why"]}})
		}}
}

func closeForm(env *Env) *form {
	help := func(v string, fine ink.Text) choice {
		for _, o := range env.snap.Options {
			if o.Kind == triage.DoClose && o.Value == v && !o.Available() {
				return choice{value: v, help: refusal(o.Refusals[0])}
			}
		}
		return choice{value: v, help: fine}
	}
	cs := []choice{help("recovered", "verified, and every debt settled"), help("open", "findings stand, somebody goes on elsewhere"), help("aborted", "the walk ends here")}
	return &form{title: "Close the incident", intro: []ink.Text{"To leave without closing, press esc and then q."},
		fields: []field{oneOf("outcome", "outcome", cs), named("why", "why", "one sentence for the report", false)},
		submit: func(v map[string]string) tea.Cmd {
			return env.send(triage.Intent{Kind: triage.DoClose, Value: v["outcome"], Text: v["why"]})
		}}
}

func interruptForm(env *Env, step string) *form {
	cs := []choice{{value: "let it go on", help: ""}, {value: "interrupt it", help: "one interrupt; it may leave things half done"}}
	return &form{title: ink.Say("%s is acting", short(step)), intro: []ink.Text{"An interrupt asks the program to stop in order. It is sent once and not repeated."},
		fields: []field{oneOf("what", "do", cs)},
		submit: func(v map[string]string) tea.Cmd {
			if v["what"] != cs[1].value {
				return nil
			}
			return env.send(triage.Intent{Kind: triage.DoInterrupt, Step: step})
		}}
}

func planForm(env *Env) *form {
	var cs []choice
	for _, l := range env.snap.Next {
		cs = append(cs, choice{value: l.Runbook, help: ink.Shown(l.Why)})
	}
	f := oneOf("runbook", "runbook", cs)
	if cs == nil {
		f = named("runbook", "runbook", "its id", true)
	}
	return &form{title: "Go on with another runbook", intro: []ink.Text{"What is known stays known."}, fields: []field{f},
		submit: func(v map[string]string) tea.Cmd {
			in := triage.Intent{Kind: triage.DoPlan, Value: v["runbook"]}
			for _, l := range env.snap.Next {
				if l.Runbook == in.Value {
					in.Params = l.Params
				}
			}
			return env.send(in)
		}}
}

// widerForm asks why a pause must reach further than the narrowest one.
func widerForm(env *Env, step string) *form {
	return &form{title: ink.Say("A wider pause: %s", env.title(step)), intro: []ink.Text{"A narrower one comes first in this runbook. Say why it is not enough."},
		fields: []field{named("why", "why", "what the narrower one does not stop", true)},
		submit: func(v map[string]string) tea.Cmd { return env.Ask(Preview{Step: step, Why: v["why"]}) }}
}
