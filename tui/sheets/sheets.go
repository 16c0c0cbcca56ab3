package sheets

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
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
	// What is too old is said anew: the words of then are no witness of now.
	anew := slices.ContainsFunc(env.Snap.Options, func(o triage.Option) bool {
		return o.Recommended && o.Kind == triage.DoAnswer && o.Step == step
	})
	if st.ID == step && st.Answer == c.Value && !anew {
		how.Edit.Set(st.How)
	}
	return &form.Form{Title: ink.Say("Answer: %s", c.Value), Intro: naming([]ink.Text{ink.Shown(card.Ask), c.Help}, card.Naming(c.Value)), Fields: []form.Field{how},
		Submit: func(v map[string]string) tea.Cmd {
			if now, _ := env.Snap.State.Step(step); !anew && now.Status == triage.Settled && now.Answer == c.Value && now.How == v["how"] {
				env.Warn("", "This answer is recorded already, in the same words.")
				return nil
			}
			return env.Send(triage.Intent{Kind: triage.DoAnswer, Step: step, Value: c.Value, Text: v["how"]})
		}}
}

// UnknownForm asks who could not say it either, and when it is asked again: that
// is what makes "I do not know" an answer that others can stand on.
func UnknownForm(env *screen.Env, st triage.Step) *form.Form {
	ask := ink.Or(ink.Shown(env.Snap.Cards[st.ID].Ask), env.Title(st.ID))
	return &form.Form{Title: "Answer: I do not know", Intro: []ink.Text{ask, "It never counts as a no, and it can be answered later."},
		Fields: []form.Field{form.Named("asked", "asked", "who was asked, or where it was looked for", true),
			form.Named("again", "again", "when it is asked again (optional)", false)},
		Submit: func(v map[string]string) tea.Cmd {
			in := triage.Intent{Kind: triage.DoAnswer, Step: st.ID, Value: triage.Unknown, Text: unknownBecause(v["asked"], v["again"])}
			if st.Kind == triage.ConcludeStep {
				in.Kind, in.Topic = triage.DoConclude, triage.Topic(st.Uses)
			}
			return env.Send(in)
		}}
}

// unknownBecause is what is recorded with an answer that is not known.
func unknownBecause(asked, again string) string {
	how := "asked: " + asked
	if again != "" {
		how += "; again: " + again
	}
	return how
}

// AcceptForm shows what the facts propose, and enter agrees to it.
func AcceptForm(env *screen.Env, o triage.Option, value string) *form.Form {
	card := env.Snap.Cards[o.Step]
	f := &form.Form{Title: ink.Say("Accept: %s = %s", o.Topic, value), Intro: []ink.Text{env.Title(o.Step), ink.Shown(card.Why)}, Does: "accept",
		Submit: func(map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: value})
		}}
	for _, g := range card.Grounds {
		f.Intro = append(f.Intro, "· "+ink.Shown(g))
	}
	return f
}

// ManualForm asks for the proof of what was done outside.
func ManualForm(env *screen.Env, step string) *form.Form {
	intro := []ink.Text{"Name the proof, so that others can check it."}
	var items []string
	for _, item := range env.Snap.State.Wanted(step) {
		items = append(items, item.Code+" "+item.Means)
	}
	if st, _ := env.Snap.State.Step(step); len(st.Covers) > 1 && len(items) > 0 {
		intro = append(intro, ink.Say("Each counts by its own value, or by the word none: %s.", strings.Join(items, ", ")))
	}
	return &form.Form{Title: ink.Say("Done: %s", env.Title(step)), Intro: naming(intro, env.Snap.Cards[step].Naming("")),
		Fields: []form.Field{form.Named("proof", "proof", ink.Or(ink.Shown(env.Snap.Cards[step].Evidence), "a link, an id, a log line"), true)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoManual, Step: step, Text: v["proof"]})
		}}
}

// naming adds to an intro what the words must name.
func naming(intro []ink.Text, line string) []ink.Text {
	if line != "" {
		intro = append(intro, ink.Shown(line))
	}
	return intro
}

// SkipForm asks why a step is not needed.
func SkipForm(env *screen.Env, step string) *form.Form {
	intro := []ink.Text{"The step stays visible as skipped, with the reason."}
	if until := incident.Until(env.Now, env.Refused(step)); until != "" {
		intro = append(intro, until)
	}
	return &form.Form{Title: ink.Say("Skip: %s", env.Title(step)), Intro: intro,
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
	intro := []ink.Text{"It keeps gates shut, or blocks closing as recovered:"}
	for _, s := range said {
		intro = append(intro, "! "+ink.Shown(s))
	}
	return &form.Form{Title: ink.Say("Overrule what %s found", incident.Short(step)),
		Intro:  append(intro, "The person named here is accountable, and the bundle says so. Reading it again is safer."),
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
		"12": ink.Say("%s may undo it, and it is not confirmed to be paused.", o.Subject),
	}[o.Value]
	title := ink.Say("Waive law %s for %s", o.Value, incident.Short(o.Subject))
	if o.Value == "12" {
		title = "Answer for an owner that is not paused"
	}
	return &form.Form{Title: title,
		Intro:  []ink.Text{what, "The person named here is accountable; the bundle says so."},
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
	intro := []ink.Text{"A decision less cautious than the proposal needs a person's name."}
	if o.Topic == triage.TopicReverts {
		intro = slices.Concat(undone(env), intro)
	}
	return &form.Form{Title: ink.Say("Decide: %s", o.Topic), Intro: intro,
		Fields: []form.Field{value, form.Named("why", "why", "what this is based on", true), form.Named("person", "person", "who decides, where it is less cautious", false)},
		Submit: func(v map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: v["value"], Text: v["why"], Person: v["person"]})
		}}
}

// undone says what reverts is about, and which acts show that something does.
func undone(env *screen.Env) []ink.Text {
	out := []ink.Text{"Does something undo every fix?"}
	for _, id := range env.Snap.State.Undone() {
		out = append(out, ink.Say("· What %q did was undone after it ended. Find what wrote it, and pause or stop that first.", env.Title(id)))
	}
	return out
}

func topicValues(t triage.Topic) []form.Choice {
	switch t {
	case triage.TopicMutation, triage.TopicConsistent, triage.TopicReverts:
		yes, no := ink.Text(""), ink.Text("")
		if t == triage.TopicReverts {
			yes, no = "a writer is active: repairs stay shut", "its writer is found and paused, or a person who stopped"
		}
		return []form.Choice{{Value: "yes", Help: yes}, {Value: "no", Help: no}, {Value: triage.Unknown, Help: "not known; needs the same care as yes"}}
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

// SettleForm asks how first, then for what that way of settling needs. A gap of a review
// only ever gets an owner and a date: an answer that is yes closes it.
func SettleForm(env *screen.Env, id string) *form.Form {
	d := env.Debt(id)
	if env.Snap.State.Kind == triage.Readiness {
		return settleDetails(env, d, "carried")
	}
	paid := ink.Text("it is in Git: name the commit or the merged change")
	switch d.Kind {
	case "unfinished":
		paid = "it has been done: say what shows it"
	case "resume":
		paid = "it runs again: say what shows it"
	case triage.ProofDebt:
		paid = "its read after the repair shows it: say what it shows"
	}
	cs := []form.Choice{{Value: "paid", Help: paid}, {Value: "carried", Help: "an owner has it until a date"}, {Value: "waived", Help: "a person decides that it is not owed"}}
	how := form.OneOf("how", "how", cs)
	if env.Snap.State.PaidBy(d) != "" {
		how.Pick = 0
	}
	return &form.Form{Title: ink.Say("Settle: %s", d.Kind), Intro: []ink.Text{ink.Shown(d.Text)}, Fields: []form.Field{how},
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
		"carried": {form.Named("owner", "owner", "a team or a person", true), form.Named("until", "until", "a day: friday, +7d or 2026-12-01", true)},
		"waived":  {form.Named("person", "person", "who decides this", true), form.Named("why", "why", "the reason", true)},
	}[how]
	switch how {
	case "paid":
		fields[0].Fill(env.Snap.State.PaidBy(d))
	case "carried":
		fields[1].Check = func(s string) ink.Text {
			if _, ok := triage.Day(s, env.Wall); !ok {
				return "Write a day that is still to come as friday, +7d or 2026-12-01."
			}
			return ""
		}
	}
	return &form.Form{Title: ink.Say("Debt %s: %s", how, d.Kind), Intro: []ink.Text{ink.Shown(d.Text)}, Fields: fields,
		Submit: func(v map[string]string) tea.Cmd {
			until, _ := triage.Day(v["until"], env.Wall)
			return env.Send(triage.Intent{Kind: triage.DoSettle, Debt: triage.Settle{Debt: d.ID, How: how,
				Proof: v["proof"], Owner: v["owner"], Until: until, Person: v["person"], Why: v["why"]}})
		}}
}

// mostMissing bounds what is listed before a close, which the phrase must stay below.
const mostMissing = 4

// InterruptForm asks once more before an act is interrupted.
func InterruptForm(env *screen.Env, step string) *form.Form {
	cs := []form.Choice{{Value: "let it continue", Help: ""}, {Value: "interrupt it", Help: "one interrupt; it may leave things half done"}}
	return &form.Form{Title: ink.Say("%s is acting", incident.Short(step)), Intro: []ink.Text{"An interrupt asks the program to stop cleanly. It is sent only once."},
		Fields: []form.Field{form.OneOf("what", "do", cs)},
		Submit: func(v map[string]string) tea.Cmd {
			if v["what"] != cs[1].Value {
				return nil
			}
			return env.Send(triage.Intent{Kind: triage.DoInterrupt, Step: step})
		}}
}

// PlanForm asks which runbook to go on with, and then what that one needs to be given.
// What is known of the incident is filled in.
func PlanForm(env *screen.Env) *form.Form {
	var cs []form.Choice
	for _, l := range env.Snap.Next {
		cs = append(cs, form.Choice{Value: l.Runbook, Help: ink.Shown(l.Why)})
	}
	f := form.OneOf("runbook", "runbook", cs)
	switch len(cs) {
	case 0:
		f = form.Named("runbook", "runbook", "its id", true)
	case 1:
		f.Pick = 0
	}
	return &form.Form{Title: "Switch to another runbook", Intro: []ink.Text{"Facts and answers are kept."}, Fields: []form.Field{f},
		Submit: func(v map[string]string) tea.Cmd {
			id, found := v["runbook"], carried(env, v["runbook"])
			do := func(given map[string]string, text string) tea.Cmd {
				return env.Send(triage.Intent{Kind: triage.DoPlan, Value: id, Params: given, Text: text})
			}
			if env.Config.Params != nil {
				if fs := env.Config.Params(id); Asks(fs, found, false) {
					env.Sheet = StartForm(env, id, fs, found, "switch", do)
					return nil
				}
			}
			return do(found, "")
		}}
}

// carried is what another runbook is given of what is known.
func carried(env *screen.Env, runbook string) map[string]string {
	var fs []steps.Field
	if env.Config.Params != nil {
		fs = env.Config.Params(runbook)
	}
	return env.Snap.Carried(runbook, fs)
}

// WiderForm asks why a pause must reach further than the narrowest one.
func WiderForm(env *screen.Env, step string) *form.Form {
	return &form.Form{Title: ink.Say("A wider pause: %s", env.Title(step)), Intro: []ink.Text{"A narrower one comes first in this runbook. Say why it is not enough."},
		Fields: []form.Field{form.Named("why", "why", "what the narrower one does not stop", true)},
		Submit: func(v map[string]string) tea.Cmd { return env.Ask(screen.Preview{Step: step, Why: v["why"]}) }}
}
